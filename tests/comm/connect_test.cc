#include "hearth/comm/connect.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "hearth/base/version.h"
#include "hearth/comm/tcp_store.h"
#include "hearth/launch/plan/ports.h"
#include "tests/comm/processes.h"
#include "tests/support.h"

namespace hearth::comm {
namespace {

World rank_of_two(int rank) { return {rank, 2, rank, 2, Launcher::environment}; }

// Processes that connect through the fake plug-in and meet; what each throws.
std::vector<std::string> messages_of(int count, const std::function<World(int)>& world_of) {
  const std::string port = std::to_string(launch::free_port());
  return run_processes(count, [&](int process) {
    setenv("HEARTH_PLUGIN_PATH", (std::string(kFakePluginsFolder) + "/good").c_str(), 1);
    setenv("MASTER_PORT", port.c_str(), 1);
    unsetenv("MASTER_ADDR");
    const World world = world_of(process);
    ConnectOptions options;
    options.backend = "gloo";
    options.timeout = std::chrono::seconds(20);
    const auto group = connect(world, options);
    check(group->rank() == world.rank && group->size() == world.size, "not the group that was asked for");
    group->barrier()->wait();
  });
}

TEST(Connect, BringsProcessesTogether) { EXPECT_EQ(messages_of(2, rank_of_two), std::vector<std::string>(2)); }

TEST(Connect, TakesTheJobsToken) {
  const auto with_token = [](int process) {
    setenv("HEARTH_JOB_TOKEN", process < 2 ? "secret" : "guessed", 1);
    return rank_of_two(process > 0);
  };
  const std::vector<std::string> messages = messages_of(3, with_token);
  EXPECT_EQ(messages[0] + messages[1], "");
  EXPECT_TRUE(contains(messages[2], "HEARTH_JOB_TOKEN") || contains(messages[2], "has not answered")) << messages[2];
}

TEST(Connect, SaysWhereRanksDisagree) {
  const auto messages = messages_of(2, [](int rank) {
    return World{rank, 2 + rank, rank, 2 + rank, Launcher::environment};
  });
  for (const std::string& message : messages)
    EXPECT_TRUE(contains(message, "the number of processes is 3 on rank 1 but 2 on rank 0")) << message;
}

TEST(Connect, RefusesASecondProcessOfTheSameRank) {
  const auto messages = messages_of(3, [](int process) { return rank_of_two(process > 0); });
  EXPECT_EQ(messages[0], "");
  EXPECT_TRUE(messages[1].empty() != messages[2].empty()) << messages[1] << messages[2];
}

TEST(Connect, IsNotHarmedByAProcessOfAnotherJob) {
  const auto messages = messages_of(3, [](int process) {
    return process < 2 ? rank_of_two(process) : World{2, 3, 2, 3, Launcher::environment};
  });
  EXPECT_EQ(messages[0] + messages[1], "");
  EXPECT_NE(messages[2], "");
}

// The process at the port says nonsense about the job.
TEST(Connect, RefusesAStoreWithoutANumberOfProcesses) {
  StoreServer server("127.0.0.1", 0, "");
  for (const auto& [key, value] :
       {std::pair("job/version", std::string(kVersion)), std::pair("job/backend", std::string("gloo")),
        std::pair("job/number of processes", std::string("many"))})
    server.set(key, value);
  const auto messages = run_processes(1, [&](int) {
    setenv("HEARTH_PLUGIN_PATH", (std::string(kFakePluginsFolder) + "/good").c_str(), 1);
    setenv("MASTER_PORT", std::to_string(server.port()).c_str(), 1);
    ConnectOptions options;
    options.backend = "gloo";
    connect(rank_of_two(1), options);
  });
  EXPECT_TRUE(contains(messages[0], "the number of processes is 2 on rank 1 but many on rank 0")) << messages[0];
}

}  // namespace
}  // namespace hearth::comm
