#include "hearth/io/replace_folder.h"

#include <gtest/gtest.h>

#include <set>

#include "hearth/io/checkpoint_folders.h"
#include "hearth/io/file.h"
#include "tests/support.h"

namespace hearth::io {
namespace {

using ReplaceFolder = TemporaryFolder;

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

bool is_checkpoint(const std::filesystem::path& folder) { return checkpoint_step(folder).has_value(); }

TEST_F(ReplaceFolder, AppearsWholeOrNotAtAll) {
  const std::filesystem::path folder = folder_ / "checkpoint-1";
  replace_folder(folder, [](const auto& inside) { replace_file(inside / "a", "first"); });
  const auto fails = [](const std::filesystem::path& inside) {
    replace_file(inside / "a", "second");
    throw Error("no room");
  };
  EXPECT_EQ(error_of([&] { replace_folder(folder, fails); }), "no room");
  EXPECT_EQ(read_file(folder / "a"), "first");
  EXPECT_EQ(names_in(folder_), std::set<std::string>({"checkpoint-1"}));
  replace_folder(folder, [](const auto& inside) { replace_file(inside / "b", "third"); });
  EXPECT_EQ(names_in(folder), std::set<std::string>({"b"}));
  EXPECT_EQ(names_in(folder_), std::set<std::string>({"checkpoint-1"}));
}

TEST_F(ReplaceFolder, TheFormerFolderComesBackWhereTheNewOneCannotTakeItsPlace) {
  const std::filesystem::path folder = folder_ / "checkpoint-1";
  replace_folder(folder, [](const auto& inside) { replace_file(inside / "a", "first"); });
  const auto loses_it = [](const auto& inside) { std::filesystem::remove_all(inside); };
  EXPECT_TRUE(contains(error_of([&] { replace_folder(folder, loses_it); }), "checkpoint-1 could not be written"));
  EXPECT_EQ(read_file(folder / "a"), "first");
  EXPECT_EQ(names_in(folder_), std::set<std::string>({"checkpoint-1"}));
}

TEST_F(ReplaceFolder, RemovingAFolderTakesItsNameFirst) {
  for (const char* name : {"a", "b", ".a.removed"}) io::create_directories(folder_ / name / "inner");
  remove_folders({folder_ / "a", folder_ / "b"});
  EXPECT_EQ(number_of_files(), 0u);
  remove_folders({});
  const LogCapture log;
  remove_folders({folder_ / "none"});
  ASSERT_EQ(log.warnings.size(), 1u);
  EXPECT_TRUE(contains(log.warnings[0], "none could not be removed and stays"));
}

TEST_F(ReplaceFolder, WhatADeadRunLeftIsTidied) {
  for (const char* name : {"checkpoint-4", "checkpoint-8"}) io::create_directories(folder_ / name / "inner");
  for (const char* name : {".checkpoint-4.former", ".checkpoint-6.former", ".checkpoint-6.partial", ".mine.former",
                           ".checkpoint-2.removed", ".checkpoint-4.removed"})
    io::create_directories(folder_ / name / name);
  finish_replacements(folder_, is_checkpoint);
  EXPECT_EQ(names_in(folder_), std::set<std::string>({"checkpoint-4", "checkpoint-6", "checkpoint-8", ".mine.former"}));
  EXPECT_EQ(names_in(folder_ / "checkpoint-4"), std::set<std::string>({"inner"}));
  EXPECT_EQ(names_in(folder_ / "checkpoint-6"), std::set<std::string>({".checkpoint-6.former"}));
  finish_replacements(folder_ / "none", is_checkpoint);
}

}  // namespace
}  // namespace hearth::io
