#include "hearth/cpu/rotation.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

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

}  // namespace
}  // namespace hearth::cpu
