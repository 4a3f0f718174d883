#include "hearth/cpu/rotation.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "hearth/cpu/topology.h"

namespace hearth::cpu {
namespace {

using std::chrono::milliseconds;

std::set<int> processors_of_thread() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  std::set<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(static_cast<std::size_t>(i), &set)) processors.insert(i);
  return processors;
}

void bind_thread(const std::set<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(static_cast<std::size_t>(processor), &set);
  sched_setaffinity(0, sizeof set, &set);
}

// In a process of its own, which ends with 0 where all is well.
void rotate_and_watch(int first, int second) {
  const std::set<int> both = {first, second};
  std::atomic<bool> stayed = true, done = false;
  std::thread on_both([&] {
    bind_thread(both);
    while (!done) stayed = stayed && processors_of_thread() == both;
  });
  bind_thread({first});
  rotate_process({{first}, {second}}, 0, milliseconds(5));
  std::set<int> seen;
  for (int i = 0; i < 5000 && seen != both; ++i) {
    const std::set<int> now = processors_of_thread();
    if (now.size() != 1) _exit(2);
    seen.insert(*now.begin());
    std::this_thread::sleep_for(milliseconds(1));
  }
  done = true;
  on_both.join();
  _exit(seen != both ? 3 : stayed ? 0 : 4);
}

TEST(Rotation, TakesTurnsOnAllProcessors) {
  const std::vector<int> processors = processors_of_process(getpid());
  if (processors.size() < 2) GTEST_SKIP() << "needs two hardware threads";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(rotate_and_watch(processors[0], processors[1]), testing::ExitedWithCode(0), "");
}

// Two threads on the two places of a seat, and one that may use both.
void rotate_seats_and_watch(const std::vector<std::vector<int>>& seats) {
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0, moves = 0;
  const auto watch = [&](const std::vector<std::size_t>& places) {
    const auto processors = [&](std::size_t seat) {
      std::set<int> set;
      for (const std::size_t place : places) set.insert(seats[seat][place]);
      return set;
    };
    bind_thread(processors(0));
    for (std::set<int> before = processors(0); !done;) {
      const std::set<int> now = processors_of_thread();
      wrong += now != processors(0) && now != processors(1);
      moves += now != before;
      before = now;
      std::this_thread::sleep_for(milliseconds(1));
    }
  };
  std::vector<std::thread> threads;
  for (const std::vector<std::size_t>& places : {std::vector<std::size_t>{0}, {1}, {0, 1}})
    threads.emplace_back(watch, places);
  std::this_thread::sleep_for(milliseconds(50));
  rotate_process(seats, 0, milliseconds(20));
  for (int i = 0; i < 5000 && moves < 12; ++i) std::this_thread::sleep_for(milliseconds(1));
  done = true;
  for (std::thread& thread : threads) thread.join();
  _exit(wrong > 0 ? 2 : moves < 12 ? 3 : 0);
}

TEST(Rotation, ThreadsKeepTheirPlacesInASeat) {
  const std::vector<int> all = processors_of_process(getpid());
  if (all.size() < 4) GTEST_SKIP() << "needs four hardware threads";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(rotate_seats_and_watch({{all[0], all[1]}, {all[2], all[3]}}), testing::ExitedWithCode(0), "");
}

TEST(Rotation, KnowsWhereTheComputeThreadsMayRun) {
  const std::vector<int> all = processors_of_process(getpid()), found = processors_of_compute_threads();
  EXPECT_FALSE(found.empty());
  EXPECT_TRUE(std::ranges::includes(all, found));
}

}  // namespace
}  // namespace hearth::cpu
