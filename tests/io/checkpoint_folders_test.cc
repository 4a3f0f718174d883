#include "hearth/io/checkpoint_folders.h"

#include <gtest/gtest.h>

#include "hearth/io/file.h"
#include "tests/support.h"

namespace hearth::io {
namespace {

using CheckpointFolders = TemporaryFolder;

TEST_F(CheckpointFolders, AreListedByNumber) {
  for (const char* name : {"checkpoint-9", "checkpoint-100", "checkpoint-10", "checkpoint-x", "checkpoint-7b",
                           "checkpoint--1", ".checkpoint-300.partial"})
    io::create_directories(folder_ / name);
  replace_file(folder_ / "checkpoint-200", "a file");
  EXPECT_EQ(list_checkpoints(folder_),
            (std::vector{folder_ / "checkpoint-9", folder_ / "checkpoint-10", folder_ / "checkpoint-100"}));
  EXPECT_EQ(last_checkpoint(folder_), folder_ / "checkpoint-100");
  EXPECT_EQ(last_checkpoint(folder_ / "none"), std::nullopt);
}

TEST(CheckpointName, HoldsTheStep) {
  EXPECT_EQ(checkpoint_name(1500), "checkpoint-1500");
  EXPECT_EQ(checkpoint_step("out/checkpoint-1500"), 1500);
  for (const char* other : {"checkpoint", "checkpoint-", "checkpoint-best", "my-checkpoint-1", "checkpoint--1"})
    EXPECT_EQ(checkpoint_step(other), std::nullopt) << other;
}

}  // namespace
}  // namespace hearth::io
