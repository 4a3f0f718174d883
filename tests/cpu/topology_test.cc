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

TEST(UsableMachine, IsWhatTheTopologyCounts) {
  const UsableMachine machine = usable_machine();
  ASSERT_FALSE(machine.nodes.empty());
  int cores = 0, processors = 0;
  for (const NumaNode& node : machine.nodes)
    for (const std::vector<int>& core : node.cores) {
      ++cores;
      processors += static_cast<int>(core.size());
    }
  EXPECT_TRUE(machine.real);
  EXPECT_EQ(cores, topology().usable_cores);
  EXPECT_EQ(processors, topology().usable_processors);
}

[[noreturn]] void print_machine_of_words() {
  setenv("HWLOC_SYNTHETIC", "pack:2 [numa] core:3 pu:2", 1);
  const UsableMachine machine = usable_machine();
  const NumaNode& last = machine.nodes.back();
  std::fprintf(stderr, "real %d, nodes %zu, node %d in package %d has %zu cores, the last has processor %d\n",
               machine.real, machine.nodes.size(), last.id, last.package, last.cores.size(), last.cores.back().back());
  _exit(0);
}

TEST(UsableMachine, MayBeDescribedInWords) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(print_machine_of_words(), testing::ExitedWithCode(0),
              "real 0, nodes 2, node 1 in package 1 has 3 cores, the last has processor 11");
}

[[noreturn]] void bind_to_one_processor() {
  const int wanted = usable_machine().nodes.back().cores.back().back();
  bind_process({wanted}, {usable_machine().nodes.back().id});
  _exit(mask_size() == 1 && processors_of_process(getpid()) == std::vector<int>{wanted} ? 0 : 1);
}

TEST(UsableMachine, AProcessIsBound) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(bind_to_one_processor(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace hearth::cpu
