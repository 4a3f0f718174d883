#include "hearth/launch/plan/target.h"

#include <ctime>

#include "tests/setting.h"
#include "tests/support.h"

namespace hearth::launch {
namespace {

using Words = std::vector<std::string>;

class TargetTest : public TemporaryFolder {
 protected:
  Words again(const std::string& command, std::int64_t started = 0) const {
    return resumed({own_program(), command, "--output-dir=" + folder_.string(), "--do_train"}, started);
  }
};

TEST_F(TargetTest, ARestartResumesFromTheLastCheckpoint) {
  for (const char* name : {"checkpoint-500", "checkpoint-1500", "checkpoint-best", "other"})
    std::filesystem::create_directory(folder_ / name);
  const Words words = again("run_qa");
  ASSERT_EQ(words.size(), 6u);
  EXPECT_EQ(words[4], "--resume_from_checkpoint");
  EXPECT_EQ(words[5], "True");  // which of them is for the run to find out: the last may be damaged
}

TEST_F(TargetTest, AFileOfOptionsNamesTheFolderToo) {
  std::filesystem::create_directory(folder_ / "checkpoint-500");
  const std::string file = write("job.json", "{\"output_dir\": \"" + folder_.string() + "\"}").string();
  const Words words = resumed({own_program(), "run_qa", file}, 0);
  EXPECT_EQ(words, (Words{own_program(), "run_qa", file, "--resume_from_checkpoint", "True"}));
  EXPECT_EQ(resumed({own_program(), "run_qa", file, "--output_dir", "/nowhere"}, 0).size(), 5u);
  const std::string yaml = write("job.yaml", "output_dir: " + folder_.string() + "\n").string();
  EXPECT_EQ(resumed({own_program(), "run_qa", yaml}, 0).size(), 5u);
}

TEST_F(TargetTest, TheFlagOfTheFolderMayBeAbbreviated) {
  std::filesystem::create_directory(folder_ / "checkpoint-500");
  EXPECT_EQ(resumed({own_program(), "run_qa", "--out", folder_.string()}, 0).size(), 6u);
  EXPECT_EQ(resumed({own_program(), "run_qa", "--optim", folder_.string()}, 0).size(), 4u);
}

TEST_F(TargetTest, AFolderInTheHomeFolder) {
  std::filesystem::create_directory(folder_ / "checkpoint-500");
  const Setting home("HOME", folder_.parent_path().string());
  const std::string name = "~/" + folder_.filename().string();
  const std::string file = write("job.json", "{\"output_dir\": \"" + name + "\"}").string();
  for (const Words& flags : {Words{"--output_dir=" + name}, Words{"--output_dir", name}, Words{file}}) {
    Words command{own_program(), "run_qa"};
    command.insert(command.end(), flags.begin(), flags.end());
    EXPECT_EQ(resumed(command, 0).back(), "True") << flags.front();
  }
}

TEST_F(TargetTest, CheckpointsOfEarlierRunsDoNotCount) {
  std::filesystem::create_directory(folder_ / "checkpoint-500");
  EXPECT_EQ(again("run_qa", static_cast<std::int64_t>(std::time(nullptr)) + 100).size(), 4u);
}

TEST_F(TargetTest, OtherTargetsStartAsTheyDid) {
  std::filesystem::create_directory(folder_ / "checkpoint-500");
  EXPECT_EQ(again("bench").size(), 4u);
  EXPECT_EQ(resumed({"python3", "x.py", "--output_dir", folder_.string()}, 0).size(), 4u);
}

}  // namespace
}  // namespace hearth::launch
