#include "hearth/io/file.h"
#include "hearth/launch/config/launch_config.h"
#include "tests/launch/conversation.h"
#include "tests/support.h"

namespace hearth::launch {
namespace {

class ConfigCommand : public TemporaryFolder {
 protected:
  // Its exit status, and what it says.
  std::pair<int, std::string> run(std::vector<std::string> words) const {
    words.insert(words.begin(), "config");
    words.insert(words.end(), {"--config_file", file_.string()});
    Conversation conversation(words, Conversation::Over::pipes);
    conversation.end_input();
    const int status = conversation.wait();
    return {status, conversation.said()};
  }

  const std::filesystem::path file_ = folder_ / "new" / "default_config.yaml";
};

TEST_F(ConfigCommand, DefaultWritesOnceAndNeverOverwrites) {
  EXPECT_EQ(run({"default", "--mixed_precision", "bf16"}).first, 0);
  const LaunchConfig config = read_launch_config(file_);
  EXPECT_EQ(config.mixed_precision, "bf16");
  EXPECT_EQ(config.distributed_type, "NO");
  EXPECT_TRUE(config.use_cpu);
  const std::string before = io::read_file(file_);
  EXPECT_TRUE(before.starts_with("compute_environment: LOCAL_MACHINE\n"));
  const auto [status, said] = run({"default"});
  EXPECT_NE(status, 0);
  EXPECT_TRUE(contains(said, "already a configuration at " + file_.string()));
  EXPECT_EQ(io::read_file(file_), before);
}

TEST_F(ConfigCommand, UpdateBringsAnOldFileUpToDate) {
  io::create_directories(file_.parent_path());
  io::replace_file(file_, io::read_file(fixture("launch/accelerate_0_15_no.yaml")));
  EXPECT_EQ(run({"update"}).first, 0);
  const std::string updated = io::read_file(file_);
  EXPECT_TRUE(contains(updated, "dynamo_config:\n  dynamo_backend: INDUCTOR\n"));
  EXPECT_TRUE(contains(updated, "enable_cpu_affinity: false\n"));
  EXPECT_FALSE(contains(updated, "megatron"));
}

TEST_F(ConfigCommand, UpdateLeavesAFileThatItCannotRead) {
  io::create_directories(file_.parent_path());
  io::replace_file(file_, "distributed_type: MULTI_GPU\n");
  EXPECT_NE(run({"update"}).first, 0);
  EXPECT_EQ(io::read_file(file_), "distributed_type: MULTI_GPU\n");
}

TEST_F(ConfigCommand, ShowExplainsEveryKey) {
  EXPECT_TRUE(contains(run({"show"}).second, "there is no launch file " + file_.string()));
  io::create_directories(file_.parent_path());
  io::replace_file(file_, io::read_file(fixture("launch/accelerate_1_6_multi_cpu.yaml")));
  const auto [status, said] = run({"show"});
  EXPECT_EQ(status, 0);
  for (const char* part :
       {"num_processes: 16", "# number of processes", "  mpirun_hostfile: /home/ann/hostfile", "always on"})
    EXPECT_TRUE(contains(said, part));
}

}  // namespace
}  // namespace hearth::launch
