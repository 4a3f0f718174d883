#include "hearth/cpu/topology.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "hearth/cpu/system.h"

namespace hearth::cpu {
namespace {

TEST(Topology, IsPlausible) {
  const Topology& t = topology();
  EXPECT_GE(t.sockets, 1);
  EXPECT_GE(t.numa_nodes, 1);
  EXPECT_GE(t.cores, t.sockets);
  EXPECT_GE(t.processors, t.cores);
  EXPECT_GE(t.usable_cores, 1);
  EXPECT_LE(t.usable_cores, t.cores);
  EXPECT_LE(t.usable_processors, t.processors);
  EXPECT_GE(t.usable_processors, t.usable_cores);
  EXPECT_EQ(t.memory_bytes, memory_total());
  if (t.l2_bytes > 0) {
    EXPECT_GE(t.l2_bytes, t.l1_data_bytes);
  }
}

int mask_size() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  return sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
}

TEST(Topology, UsableIsTheMask) {
  if (std::getenv("OMP_PLACES") != nullptr || std::getenv("OMP_PROC_BIND") != nullptr)
    GTEST_SKIP() << "OpenMP binds this process's threads";
  EXPECT_EQ(topology().usable_processors, mask_size());
}

[[noreturn]] void print_usable_on_one_processor() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(sched_getcpu(), &mask);
  sched_setaffinity(0, sizeof mask, &mask);
  std::fprintf(stderr, "usable: %d cores, %d processors\n", topology().usable_cores, topology().usable_processors);
  _exit(0);
}

TEST(Topology, FollowsANarrowedMask) {
  if (std::getenv("OMP_PLACES") != nullptr || std::getenv("OMP_PROC_BIND") != nullptr)
    GTEST_SKIP() << "OpenMP binds this process's threads";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(print_usable_on_one_processor(), testing::ExitedWithCode(0), "usable: 1 cores, 1 processors");
}

}  // namespace
}  // namespace hearth::cpu
