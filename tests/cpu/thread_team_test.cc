#include "hearth/cpu/thread_team.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "hearth/cpu/parallel.h"
#include "hearth/cpu/topology.h"

namespace hearth::cpu {
namespace {

constexpr int kThreads = 5;
constexpr std::int64_t kTasks = 100;

bool openmp_binds_threads() {
  return std::getenv("OMP_PLACES") != nullptr || std::getenv("OMP_PROC_BIND") != nullptr ||
         std::getenv("GOMP_CPU_AFFINITY") != nullptr;
}

// The states of this process's workers, such as "SSR": sleeping, sleeping, running.
std::string states_of_workers() {
  std::string states;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name = text.find("(hearth compute) ");
    if (name != text.npos) states += text[text.find(')') + 2];
  }
  return states;
}

// The system takes a moment to forget a thread that has ended, and a worker to fall asleep.
template <class Condition>
bool comes_true(const Condition& condition) {
  for (int i = 0; i < 10'000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

bool all_tasks_run_once() {
  std::vector<std::atomic<int>> runs(kTasks);
  parallel_for(kTasks, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
  return std::ranges::all_of(runs, [](const auto& n) { return n == 1; });
}

#ifdef __SANITIZE_THREAD__
constexpr bool kForksMayStartThreads = false;  // "ThreadSanitizer: dup thread with used id"
#else
constexpr bool kForksMayStartThreads = true;
#endif

class TeamTest : public testing::Test {
 protected:
  TeamTest() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    set_num_threads(kThreads);
  }
  ~TeamTest() override { set_num_threads(0); }
};
using TeamDeathTest = TeamTest;

template <class Function>
void run(ThreadTeam& team, const Function& function) {
  team.run(TeamJob(function));
}

TEST_F(TeamTest, EveryPositionRunsOnceOnAThreadOfItsOwn) {
  for (const int threads : {1, 2, kThreads}) {
    ThreadTeam team(threads);
    EXPECT_EQ(team.threads(), threads);
    for (int round = 0; round < 3; ++round) {
      std::vector<int> runs(static_cast<std::size_t>(threads));
      std::vector<std::thread::id> ids(runs.size());
      run(team, [&](int position) {
        ++runs[static_cast<std::size_t>(position)];
        ids[static_cast<std::size_t>(position)] = std::this_thread::get_id();
      });
      EXPECT_EQ(runs, std::vector<int>(runs.size(), 1));
      EXPECT_EQ(ids[0], std::this_thread::get_id());
      std::ranges::sort(ids);
      EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
    }
  }
}

// Plain memory goes to the workers and back: a signal that orders too little is a race for ThreadSanitizer.
TEST_F(TeamTest, ManySmallJobs) {
  for (const int threads : {1, 2, kThreads}) {
    ThreadTeam team(threads);
    std::vector<int> counts(static_cast<std::size_t>(threads) * 16);
    int expected = 0;
    for (int round = 0; round < 20'000; ++round) {
      expected += round % 7;
      run(team, [&, round](int position) { counts[static_cast<std::size_t>(position) * 16] += round % 7; });
      ASSERT_EQ(std::accumulate(counts.begin(), counts.end(), 0), expected * threads) << round;
    }
  }
}

// Pauses on both sides of the time after which threads sleep, of the owner and of a worker.
TEST_F(TeamTest, NobodyMissesASignalWhileFallingAsleep) {
  for (const int threads : {2, kThreads}) {
    ThreadTeam team(threads);
    std::atomic<int> runs = 0;
    for (int round = 0; round < 300; ++round) {
      const auto pause = std::chrono::microseconds(round);
      run(team, [&](int position) {
        if (position == 1 && round % 2 == 0) std::this_thread::sleep_for(pause);
        ++runs;
      });
      EXPECT_EQ(runs.exchange(0), threads);
      std::this_thread::sleep_for(pause);
    }
  }
}

TEST_F(TeamTest, IdleWorkersSleepAndWakeAgain) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) GTEST_SKIP() << "the environment says how threads wait";
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(all_tasks_run_once());
    EXPECT_TRUE(comes_true([] { return states_of_workers() == std::string(kThreads - 1, 'S'); }))
        << states_of_workers();
  }
}

TEST_F(TeamTest, EndsWithItsThread) {
  set_num_threads(2);
  EXPECT_TRUE(all_tasks_run_once());  // so that this thread's own team is small
  ASSERT_TRUE(comes_true([] { return states_of_workers().size() == 1; }));
  set_num_threads(kThreads);
  std::size_t with_team = 0;
  std::thread owner([&] {
    EXPECT_TRUE(all_tasks_run_once());
    with_team = states_of_workers().size();
  });
  owner.join();
  EXPECT_EQ(with_team, static_cast<std::size_t>(kThreads));  // four workers, and the one of this thread
  EXPECT_TRUE(comes_true([] { return states_of_workers().size() == 1; }));
}

TEST_F(TeamTest, IsMadeAnewWhenTheNumberOfThreadsChanges) {
  for (const int threads : {2, kThreads, 1, 3, kThreads, 2}) {
    set_num_threads(threads);
    EXPECT_TRUE(all_tasks_run_once());
    if (threads == 1) continue;
    EXPECT_TRUE(comes_true([&] { return states_of_workers().size() == static_cast<std::size_t>(threads - 1); }));
  }
}

TEST_F(TeamTest, WorkersLeaveSignalsToOtherThreads) {
  ThreadTeam team(kThreads);
  std::vector<int> blocked(kThreads), faults(kThreads);
  std::vector<std::string> names(kThreads);
  run(team, [&](int position) {
    const auto i = static_cast<std::size_t>(position);
    sigset_t signals;
    pthread_sigmask(SIG_SETMASK, nullptr, &signals);
    blocked[i] = sigismember(&signals, SIGTERM) + sigismember(&signals, SIGINT) + sigismember(&signals, SIGUSR1);
    faults[i] = sigismember(&signals, SIGSEGV);
    char name[16];
    pthread_getname_np(pthread_self(), name, sizeof name);
    names[i] = name;
  });
  EXPECT_EQ(blocked, (std::vector<int>{0, 3, 3, 3, 3}));
  EXPECT_EQ(faults, std::vector<int>(kThreads, 0));
  EXPECT_NE(names[0], "hearth compute");
  EXPECT_EQ(std::ranges::count(names, "hearth compute"), kThreads - 1);
}

std::vector<int> own_processors() {
  cpu_set_t mask;
  sched_getaffinity(0, sizeof mask, &mask);
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(static_cast<std::size_t>(i), &mask)) processors.push_back(i);
  return processors;
}

std::vector<std::vector<int>> processors_of_team(int threads) {
  std::vector<std::vector<int>> processors(static_cast<std::size_t>(threads));
  ThreadTeam team(threads);
  run(team, [&](int position) { processors[static_cast<std::size_t>(position)] = own_processors(); });
  return processors;
}

TEST_F(TeamTest, WorkersHaveTheMaskOfTheirOwner) {
  if (openmp_binds_threads()) GTEST_SKIP() << "OpenMP binds this process's threads";
  std::thread([] {
    const std::vector<int> one = {own_processors().back()};
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(static_cast<std::size_t>(one[0]), &mask);
    ASSERT_EQ(sched_setaffinity(0, sizeof mask, &mask), 0);
    EXPECT_EQ(processors_of_team(3), std::vector<std::vector<int>>(3, one));
  }).join();
}

// Ends with 7 where all is well.
void check_two_places() {
  const auto two = processors_of_team(2), four = processors_of_team(4);
  const bool apart = two[0].size() == 1 && two[1].size() == 1 && two[0] != two[1];
  std::_Exit(apart && four == std::vector{two[0], two[0], two[1], two[1]} ? 7 : 1);
}

// The runtime reads these variables when a process starts: the test begins again in a process of its own.
TEST_F(TeamDeathTest, ThreadsAreBoundToThePlacesOfOpenMpsVariables) {
  if (!testing::internal::InDeathTestChild()) {
    const std::vector<int> all = processors_of_process(getpid());
    if (openmp_binds_threads() || all.size() < 2) GTEST_SKIP() << "needs two processors and no binding";
    setenv("OMP_PLACES", ("{" + std::to_string(all[0]) + "},{" + std::to_string(all[1]) + "}").c_str(), 1);
    setenv("OMP_PROC_BIND", "close", 1);
  }
  EXPECT_EXIT(check_two_places(), testing::ExitedWithCode(7), "");
  unsetenv("OMP_PLACES");
  unsetenv("OMP_PROC_BIND");
}

TEST(ThreadPlaces, AreDistributedAsOpenMpDoes) {
  using Places = std::vector<int>;
  EXPECT_EQ(distribute_threads(PlacePolicy::close, 3, 8, 0), (Places{0, 1, 2}));
  EXPECT_EQ(distribute_threads(PlacePolicy::close, 3, 4, 2), (Places{2, 3, 0}));
  EXPECT_EQ(distribute_threads(PlacePolicy::close, 5, 2, 0), (Places{0, 0, 0, 1, 1}));
  EXPECT_EQ(distribute_threads(PlacePolicy::spread, 4, 8, 0), (Places{0, 2, 4, 6}));
  EXPECT_EQ(distribute_threads(PlacePolicy::spread, 2, 4, 3), (Places{3, 1}));
  EXPECT_EQ(distribute_threads(PlacePolicy::spread, 4, 2, 1), (Places{1, 1, 0, 0}));
  EXPECT_EQ(distribute_threads(PlacePolicy::together, 3, 8, 5), (Places{5, 5, 5}));
}

// Exit status of a forked process that runs `body`; one that hangs ends by SIGALRM.
template <class Body>
int status_of_fork(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    body();
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_F(TeamTest, AForkedProcessMakesATeamOfItsOwn) {
  if (!kForksMayStartThreads) GTEST_SKIP() << "ThreadSanitizer fails when a fork starts threads";
  EXPECT_TRUE(all_tasks_run_once());
  EXPECT_EQ(status_of_fork([] {
              const bool right = states_of_workers().empty() && all_tasks_run_once() && all_tasks_run_once();
              _exit(!right ? 1 : states_of_workers().size() == kThreads - 1 ? 0 : 2);
            }),
            0);
  EXPECT_EQ(status_of_fork([] {
              std::thread([] { all_tasks_run_once(); }).join();
              _exit(all_tasks_run_once() ? 7 : 1);
            }),
            7);
  EXPECT_TRUE(all_tasks_run_once());
}

// The destructor of the parent's team must not wait for threads that do not exist.
TEST_F(TeamDeathTest, AForkedProcessEnds) {
  if (!kForksMayStartThreads) GTEST_SKIP() << "ThreadSanitizer fails when a fork starts threads";
  const auto fork_and_exit = [] {
    bool right = all_tasks_run_once();
    right = right && status_of_fork([] { std::exit(7); }) == 7;
    right = right && status_of_fork([] { std::exit(all_tasks_run_once() ? 8 : 1); }) == 8;
    std::exit(right ? 9 : 1);
  };
  EXPECT_EXIT(fork_and_exit(), testing::ExitedWithCode(9), "");
}

TEST_F(TeamDeathTest, ATaskMayEndTheProcess) {
  for (const int ending : {0, kThreads - 1}) {
    const auto end_at = [ending] {
      alarm(60);
      std::atomic<int> inside = 0;
      const auto body = [&](int position) {
        const detail::TaskScope scope;
        ++inside;
        while (inside < kThreads) sched_yield();
        if (position == ending) std::exit(7);
        pause();  // never ends
      };
      detail::run_team(kThreads, TeamJob(body));
    };
    EXPECT_EXIT(end_at(), testing::ExitedWithCode(7), "") << ending;
  }
}

struct ComputesInTheEnd {
  std::atomic<int>& result;
  ~ComputesInTheEnd() { result = all_tasks_run_once() ? 1 : 2; }
};

TEST_F(TeamTest, AThreadThatEndsComputesAlone) {
  std::atomic<int> before_team = 0, after_team = 0;
  std::thread([&] {
    static thread_local std::unique_ptr<ComputesInTheEnd> last;
    last.reset(new ComputesInTheEnd{before_team});
    EXPECT_TRUE(all_tasks_run_once());
    static thread_local std::unique_ptr<ComputesInTheEnd> early;
    early.reset(new ComputesInTheEnd{after_team});
  }).join();
  EXPECT_EQ(before_team, 1);
  EXPECT_EQ(after_team, 1);
}

TEST_F(TeamDeathTest, StaticObjectsMayComputeInTheEnd) {
  const auto compute_at_exit = [] {
    static std::atomic<int> result = 0;
    std::atexit([] { _exit(result == 1 ? 7 : 1); });
    static const ComputesInTheEnd computes{result};
    const bool right = all_tasks_run_once();
    std::exit(right ? 0 : 1);
  };
  EXPECT_EXIT(compute_at_exit(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace hearth::cpu
