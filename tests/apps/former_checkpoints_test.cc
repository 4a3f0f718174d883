#include "hearth/apps/former_checkpoints.h"

#include <gtest/gtest.h>

#include "hearth/io/checkpoint_folders.h"
#include "tests/support.h"

namespace hearth::apps {
namespace {

namespace fs = std::filesystem;

class FormerCheckpointsTest : public TemporaryFolder {
 protected:
  FormerCheckpointsTest() {
    for (const std::int64_t step : {2, 4, 6}) fs::create_directories(folder_ / io::checkpoint_name(step) / "inner");
  }
  std::vector<fs::path> left() const { return io::list_checkpoints(folder_); }

  FormerCheckpoints former_{{folder_ / "checkpoint-2", folder_ / "checkpoint-4", folder_ / "checkpoint-6"}};
  TrainerControl control_;
};

TEST_F(FormerCheckpointsTest, GoAfterTheFirstStep) {
  former_.on_train_begin({}, control_);
  former_.on_step_begin({}, control_);
  EXPECT_EQ(left().size(), 3u);
  former_.on_step_end({}, control_);
  EXPECT_EQ(left(), std::vector<fs::path>());
  fs::create_directories(folder_ / "checkpoint-2");  // by the run itself
  former_.on_step_end({}, control_);
  former_.on_train_end({}, control_);
  EXPECT_EQ(left(), std::vector{folder_ / "checkpoint-2"});
}

TEST_F(FormerCheckpointsTest, OneThatTheRunHasReplacedStays) {
  former_.on_save({}, control_, folder_ / "checkpoint-4");
  former_.on_step_end({}, control_);
  EXPECT_EQ(left(), std::vector{folder_ / "checkpoint-4"});
}

// As --save_total_limit does before the first step, with the checkpoint that a resumed run owes.
TEST_F(FormerCheckpointsTest, ThoseThatAreGoneAreNoReasonToWarn) {
  fs::remove_all(folder_ / "checkpoint-2");
  LogCapture log;
  former_.on_step_end({}, control_);
  EXPECT_EQ(left(), std::vector<fs::path>());
  EXPECT_EQ(log.warnings, std::vector<std::string>());
}

}  // namespace
}  // namespace hearth::apps
