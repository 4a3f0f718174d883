#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <sstream>

#include "hearth/comm/plugin_group.h"
#include "hearth/comm/tcp_store.h"
#include "hearth/comm/thread_plugin.h"
#include "hearth/comm/thread_world.h"
#include "hearth/launch/plan/ports.h"
#include "tests/comm/processes.h"
#include "tests/comm/store_plugin.h"
#include "tests/support.h"

namespace hearth::comm {
namespace {

using std::chrono::milliseconds;

ThreadWorldOptions within(milliseconds timeout) {
  ThreadWorldOptions options;
  options.timeout = timeout;
  return options;
}

TEST(ThreadWorld, RethrowsTheFirstExceptionAndEndsTheOthers) {
  std::mutex mutex;
  std::vector<std::string> messages;
  const auto body = [&](ProcessGroup& group) {
    group.barrier()->wait();
    if (group.rank() == 1) fail("rank 1 has had enough");
    const std::string message = error_of([&] { group.barrier()->wait(); });
    const std::lock_guard lock(mutex);
    messages.push_back(message);
  };
  EXPECT_EQ(error_of([&] { run_threads(3, body); }), "rank 1 has had enough");
  ASSERT_EQ(messages.size(), 2u);
  for (const std::string& message : messages) EXPECT_TRUE(contains(message, "barrier")) << message;
}

TEST(TimeOuts, NameTheOperationAndTheRankThatDidNotCome) {
  std::atomic<int> blamed = 0;
  const auto body = [&](ProcessGroup& group) {
    group.barrier()->wait();
    float number = 0;
    if (group.rank() == 2) {
      while (blamed < 2) std::this_thread::sleep_for(milliseconds(5));
      return;
    }
    const std::string message = error_of([&] { group.all_reduce(&number, 1, DType::f32)->wait(); });
    EXPECT_TRUE(contains(message, "all_reduce")) << message;
    EXPECT_TRUE(contains(message, "rank 2 has not reached it (last seen in barrier")) << message;
    EXPECT_FALSE(message.find("rank 0 has") != message.npos || message.find("rank 1 has") != message.npos) << message;
    // From now on everything fails at once, in the same words.
    EXPECT_EQ(error_of([&] { group.broadcast(&number, 1, DType::f32, 0)->wait(); }), message);
    EXPECT_TRUE(group.barrier()->done());
    ++blamed;
  };
  run_threads(3, body, within(milliseconds(2000)));
}

TEST(TimeOuts, OfMessagesNobodySends) {
  const auto body = [](ProcessGroup& group) {
    float number = 0;
    const std::string message = error_of([&] { group.recv(&number, 1, DType::f32, 0)->wait(); });
    EXPECT_TRUE(contains(message, "recv") && contains(message, "did not end within 0.1 s")) << message;
  };
  run_threads(1, body, within(milliseconds(100)));
}

TEST(Groups, EndWhatWasStartedBeforeTheyGo) {
  std::int32_t numbers[3] = {1, 2, 3};
  run_threads(3, [&](ProcessGroup& group) { group.all_reduce(&numbers[group.rank()], 1, DType::i32); });
  for (const std::int32_t number : numbers) EXPECT_EQ(number, 6);
}

TEST(Groups, AreLeftAtOnceByAnExceptionAlthoughSomethingRuns) {
  float number = 0;
  const auto body = [&](ProcessGroup& group) {
    group.recv(&number, 1, DType::f32, group.rank());
    fail("out of here");
  };
  EXPECT_EQ(error_of([&] { run_threads(2, body); }), "out of here");
}

std::ptrdiff_t number_of_threads() { return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}); }

TEST(Groups, DoNotWaitForAPluginThatIsStuck) {
  const std::ptrdiff_t threads = number_of_threads();
  static std::atomic<bool> released = false;
  static const HearthCommPlugin plugin = [] {
    HearthCommPlugin stuck = store_plugin();
    stuck.barrier = [](void*) -> const char* {
      while (!released) std::this_thread::sleep_for(milliseconds(5));
      return "released";
    };
    return stuck;
  }();
  PluginGroupOptions options;
  options.timeout = milliseconds(2000);
  options.beat = milliseconds(10);
  options.grace = milliseconds(50);
  const auto store = std::make_shared<MemoryStore>();
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 2; ++rank)
    ranks.emplace_back([&, rank] {
      std::unique_ptr<PluginGroup> group;
      const std::string message = error_of([&] {
        group = std::make_unique<PluginGroup>(plugin, World{rank, 2, rank, 2, Launcher::threads}, store, options);
        group->barrier()->wait();
      });
      EXPECT_TRUE(contains(message, "barrier") && contains(message, "did not end within 2 s")) << message;
    });
  for (std::thread& rank : ranks) rank.join();
  released = true;
  for (int waited = 0; waited < 10'000 && number_of_threads() > threads; ++waited)
    std::this_thread::sleep_for(milliseconds(1));
  EXPECT_LE(number_of_threads(), threads) << "threads of the stuck handle are still there";
}

TEST(Groups, BindTheirThread) {
  static const HearthCommPlugin plugin = [] {
    HearthCommPlugin bound = store_plugin();
    bound.barrier = [](void*) -> const char* {
      cpu_set_t set;
      sched_getaffinity(0, sizeof set, &set);
      return CPU_COUNT(&set) == 1 ? nullptr : "not bound";
    };
    return bound;
  }();
  cpu_set_t usable;
  sched_getaffinity(0, sizeof usable, &usable);
  PluginGroupOptions options;
  for (int cpu = 0; options.cpus.empty(); ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &usable)) options.cpus.push_back(cpu);
  PluginGroup group(plugin, {}, std::make_shared<MemoryStore>(), options);
  EXPECT_EQ(error_of([&] { group.barrier()->wait(); }), "");
}

std::shared_ptr<Store> store_of(int rank, int port) {
  std::shared_ptr<Store> store;
  if (rank == 0)
    store = std::make_shared<StoreServer>("127.0.0.1", port, "");
  else
    store = std::make_shared<StoreClient>("127.0.0.1", port, "", milliseconds(10000));
  store->set_last_will("gone/" + std::to_string(rank), "died");
  return store;
}

PluginGroupOptions short_options(milliseconds beat = milliseconds(200)) {
  PluginGroupOptions options;
  options.timeout = milliseconds(3000);
  options.beat = beat;
  options.grace = milliseconds(500);
  return options;
}

// Runs the body in three processes that form a group.
std::vector<std::string> in_group(const PluginGroupOptions& options, const std::function<void(PluginGroup&)>& body,
                                  int victim = -1) {
  static const HearthCommPlugin plugin = store_plugin();
  const int port = launch::free_port();
  const auto run = [&](int rank) {
    PluginGroup group(plugin, {rank, 3, rank, 3, Launcher::environment}, store_of(rank, port), options);
    body(group);
  };
  return run_processes(3, run, victim);
}

// Three processes meet five times before the victim, after a while, does something to itself; what the others say, a
// line each.
std::string after(int victim, int signal, milliseconds beat = milliseconds(200), milliseconds a_while = {}) {
  const auto body = [&](PluginGroup& group) {
    for (int round = 0; round < 1000; ++round) {
      if (group.rank() == victim && round == 5) {
        std::this_thread::sleep_for(a_while);
        raise(signal);
      }
      group.barrier()->wait();
    }
  };
  const std::vector<std::string> messages = in_group(short_options(beat), body, victim);
  std::string lines;
  for (int rank = 0; rank < 3; ++rank) {
    if (rank == victim) continue;
    EXPECT_TRUE(contains(messages[static_cast<std::size_t>(rank)], "barrier (operation"));
    lines += messages[static_cast<std::size_t>(rank)] + "\n";
  }
  return lines;
}

// Each of the two lines names the victim and not the other survivor.
void expect_blame(const std::string& messages, int victim, const char* words) {
  std::istringstream lines(messages);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blame = line.find(';');
    ASSERT_NE(blame, line.npos) << line;
    for (int rank = 0; rank < 3; ++rank)
      EXPECT_EQ(line.find("rank " + std::to_string(rank), blame) != line.npos, rank == victim) << line;
    EXPECT_TRUE(contains(line, words));
  }
}

TEST(Faults, AKilledRankIsNamed) {
  expect_blame(after(2, SIGKILL), 2, "rank 2 died or lost its connection (last seen in");
}

// Joining is the first operation. The rank dies before its second sign of life is due. The beat is below the time after
// which the store no longer waits for a silent client.
TEST(Faults, AKilledRankIsNamedWithItsLastOperation) {
  const std::string messages = after(2, SIGKILL, milliseconds(1000), milliseconds(700));
  expect_blame(messages, 2, "rank 2 died or lost its connection (last seen in barrier, operation 6)");
}

TEST(Faults, AStoppedRankIsNamed) { expect_blame(after(1, SIGSTOP), 1, "rank 1 gives no sign of life (last seen in"); }

TEST(Faults, TheRankThatHoldsTheStoreIsNamed) {
  const std::string killed = after(0, SIGKILL), stopped = after(0, SIGSTOP);
  EXPECT_TRUE(contains(killed, "rank 0, which holds the job's store, cannot be reached")) << killed;
  expect_blame(stopped, 0, "rank 0, which holds the job's store, gives no sign of life");
}

TEST(Faults, TheReasonOfTheRankThatFailedIsRepeated) {
  const auto body = [](PluginGroup& group) {
    group.barrier()->wait();
    try {
      if (group.rank() == 1) fail("the disk is full");
      group.barrier()->wait();
    } catch (const Error& error) {
      group.report_failure(error.what());
      throw;
    }
  };
  const std::vector<std::string> messages = in_group(short_options(), body);
  EXPECT_EQ(messages[1], "the disk is full");
  for (const int rank : {0, 2}) EXPECT_EQ(messages[static_cast<std::size_t>(rank)], "rank 1 failed: the disk is full");
}

// The warnings of one rank while another one is stopped.
std::string warnings_of(int rank, int stopped) {
  PluginGroupOptions options = short_options(milliseconds(50));
  options.silence = milliseconds(500);
  const auto body = [&](PluginGroup& group) {
    const LogCapture log;
    group.barrier()->wait();
    std::this_thread::sleep_for(milliseconds(500));  // all have heard of each other
    if (group.rank() == stopped) raise(SIGSTOP);
    error_of([&] { group.barrier()->wait(); });
    std::string warnings;
    for (const std::string& warning : log.warnings) warnings += warning + "\n";
    throw Error(warnings);
  };
  return in_group(options, body, stopped)[static_cast<std::size_t>(rank)];
}

TEST(Faults, ASilentRankIsWorthAWarningLongBeforeTheTimeIsOut) {
  const std::string of_one = warnings_of(0, 1);
  EXPECT_TRUE(contains(of_one, "rank 1 has given no sign of life for 0.5 s (last seen in barrier, operation 2)"));
  EXPECT_EQ(of_one.find("rank 2"), of_one.npos) << of_one;
  EXPECT_TRUE(contains(warnings_of(1, 0), "rank 0, which holds the job's store, has given no sign of life for 0.5 s"));
}

// While ranks 1 and 2 wait for rank 0, all are stopped for longer than an operation may take.
TEST(Faults, AJobThatWasSuspendedGoesOn) {
  struct Shared {
    std::atomic<pid_t> ranks[3];
    std::atomic<bool> woken, over;
  };
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Shared& shared = *new (memory) Shared{};
  std::thread scheduler([&] {
    for (const std::atomic<pid_t>& rank : shared.ranks)
      while (rank == 0 && !shared.over) std::this_thread::sleep_for(milliseconds(5));
    if (shared.over) return;
    for (const std::atomic<pid_t>& rank : shared.ranks) kill(rank, SIGSTOP);
    std::this_thread::sleep_for(milliseconds(4500));
    shared.woken = true;
    for (const std::atomic<pid_t>& rank : shared.ranks) kill(rank, SIGCONT);
  });
  const auto body = [&](PluginGroup& group) {
    group.barrier()->wait();
    shared.ranks[group.rank()] = getpid();
    while (group.rank() == 0 && !shared.woken) std::this_thread::sleep_for(milliseconds(5));
    for (int round = 0; round < 3; ++round) group.barrier()->wait();
  };
  EXPECT_EQ(in_group(short_options(), body), std::vector<std::string>(3));
  shared.over = true;
  scheduler.join();
  munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace hearth::comm
