#include "hearth/launch/place/started_rank.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "hearth/cpu/parallel.h"
#include "tests/support.h"

namespace hearth::launch {
namespace {

std::vector<int> own_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return processors;
  for (int id = 0; id < CPU_SETSIZE; ++id)
    if (CPU_ISSET(id, &mask)) processors.push_back(id);
  return processors;
}

// Runs `body` in a child, whose binding does not outlive it; true where it returns true.
bool in_child(const std::function<bool()>& body) {
  const pid_t pid = fork();
  if (pid == 0) {
    for (const char* name : {"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "OMP_NUM_THREADS", "CCL_WORKER_COUNT",
                             "CCL_WORKER_AFFINITY"})
      unsetenv(name);
    bool ok = false;
    try {
      ok = body();
    } catch (const Error&) {
    }
    _exit(ok ? 0 : 1);
  }
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(StartedRank, RanksOfOneHostGetDifferentCores) {
  const auto machine = cpu::usable_machine();
  if (place(machine, {}).ranks[0].places.size() < 2) GTEST_SKIP() << "this process may use one core alone";
  const auto place_as = [](int rank) {
    return in_child([&] {
      const std::vector<int> before = own_processors();
      place_this_process(rank, 2);
      const std::vector<int> after = own_processors();
      const bool has_first = std::ranges::find(after, before.front()) != after.end();
      const bool is_part = std::ranges::includes(before, after) && after.size() < before.size();
      return is_part && has_first == (rank == 0) && cpu::num_threads() <= static_cast<int>(after.size());
    });
  };
  EXPECT_TRUE(place_as(0));
  EXPECT_TRUE(place_as(1));
}

TEST(StartedRank, AloneItStaysAsItIs) {
  EXPECT_TRUE(in_child([] {
    const std::vector<int> before = own_processors();
    return place_this_process(0, 1).empty() && own_processors() == before;
  }));
}

TEST(StartedRank, WhatOpenMpBindsStaysAsItIs) {
  EXPECT_TRUE(in_child([] {
    setenv("OMP_PLACES", "cores", 1);
    setenv("CCL_WORKER_AFFINITY", "3,7,11,15", 1);
    const std::vector<int> before = own_processors();
    const bool stays = place_this_process(1, 2) == std::vector{11, 15} && own_processors() == before;
    return stays && cpu::num_threads() == std::max(1, cpu::default_threads(cpu::topology()) / 2);
  }));
}

TEST(StartedRank, AMaskOfItsOwnIsTheStartersChoice) {
  const std::vector<int> all = own_processors();
  if (all.size() < 2) GTEST_SKIP() << "this process may use one processor alone";
  EXPECT_TRUE(in_child([&] {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(static_cast<std::size_t>(all.back()), &mask);
    if (sched_setaffinity(0, sizeof mask, &mask) != 0) return false;
    place_this_process(0, 2);
    return own_processors() == std::vector{all.back()};
  }));
}

}  // namespace
}  // namespace hearth::launch
