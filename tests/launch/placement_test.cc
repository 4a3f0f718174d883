#include "hearth/launch/place/placement.h"

#include <set>

#include "tests/support.h"

namespace hearth::launch {
namespace {

// `nodes` nodes of `cores` cores, whose second hardware threads come after all first ones.
cpu::UsableMachine machine(int nodes, int cores, int threads = 1) {
  cpu::UsableMachine result;
  for (int node = 0; node < nodes; ++node) {
    cpu::NumaNode& made = result.nodes.emplace_back();
    made.id = made.package = node;
    for (int core = 0; core < cores; ++core) {
      Place& place = made.cores.emplace_back();
      for (int thread = 0; thread < threads; ++thread) place.push_back(thread * nodes * cores + node * cores + core);
    }
  }
  return result;
}

PlacementRequest ranks(int count) {
  PlacementRequest request;
  request.ranks = count;
  return request;
}

void expect_no_core_shared(const Placement& placement) {
  std::set<int> seen;
  for (const RankPlacement& rank : placement.ranks)
    for (const int processor : rank.processors()) EXPECT_TRUE(seen.insert(processor).second) << processor;
}

TEST(Placement, OneRankANode) {
  const Placement placement = place(machine(2, 4, 2), ranks(2));
  ASSERT_EQ(placement.ranks.size(), 2u);
  EXPECT_EQ(placement.ranks[1].nodes, std::vector{1});
  EXPECT_EQ(placement.ranks[1].places, (std::vector<Place>{{4, 12}, {5, 13}, {6, 14}, {7, 15}}));
  EXPECT_EQ(placement.ranks[1].threads, 4);
  EXPECT_TRUE(placement.ranks[1].pinned);
  EXPECT_TRUE(placement.warnings.empty());
  expect_no_core_shared(placement);
}

TEST(Placement, SeveralRanksANodeAndSeveralNodesARank) {
  for (const int nodes : {1, 2, 3, 8})
    for (const int count : {1, 2, 3, 4, 5, 7, 8, 16}) {
      const Placement placement = place(machine(nodes, 6), ranks(count));
      if (count > nodes * 6) continue;
      ASSERT_EQ(placement.ranks.size(), static_cast<std::size_t>(count));
      expect_no_core_shared(placement);
      for (const RankPlacement& rank : placement.ranks) {
        EXPECT_GE(rank.places.size(), 1u);
        EXPECT_EQ(rank.nodes.size() > 1, count < nodes && rank.places.size() > 6);
      }
    }
  EXPECT_EQ(place(machine(8, 2), ranks(4)).ranks[3].nodes, (std::vector{6, 7}));
}

TEST(Placement, UnequalNodesGetRanksByTheirCores) {
  cpu::UsableMachine masked = machine(2, 6);
  masked.nodes[0].cores.resize(1);
  const Placement placement = place(masked, ranks(4));
  EXPECT_EQ(placement.ranks[0].nodes, std::vector{0});
  EXPECT_EQ(placement.ranks[1].nodes, std::vector{1});
  EXPECT_EQ(placement.ranks[3].places.size(), 2u);
}

TEST(Placement, CommunicationGetsTheLastCores) {
  PlacementRequest request = ranks(2);
  request.communication_cores = 1;
  const Placement placement = place(machine(2, 4, 2), request);
  EXPECT_EQ(placement.ranks[0].communication, (std::vector<Place>{{3, 11}}));
  EXPECT_EQ(placement.ranks[0].threads, 3);
  EXPECT_EQ(communication_processors(placement.ranks), (std::vector{3, 7}));
  expect_no_core_shared(placement);
}

TEST(Placement, CommunicationCoresOfTheUser) {
  PlacementRequest request = ranks(2);
  request.communication_processors = {0, 4};
  const Placement placement = place(machine(2, 4), request);
  EXPECT_EQ(placement.ranks[0].places, (std::vector<Place>{{1}, {2}, {3}}));
  EXPECT_EQ(placement.ranks[1].communication, (std::vector<Place>{{4}}));
  request.communication_processors = {0, 4, 5};
  EXPECT_TRUE(contains(error_of([&] { place(machine(2, 4), request); }), "names 3 cores for 2 ranks"));
}

TEST(Placement, OneCoreARankLeavesNoneForCommunication) {
  PlacementRequest request = ranks(2);
  request.communication_cores = 1;
  const Placement placement = place(machine(1, 2), request);
  EXPECT_TRUE(placement.ranks[0].communication.empty());
  ASSERT_EQ(placement.warnings.size(), 1u);
  EXPECT_TRUE(contains(placement.warnings[0], "leave none for communication"));
}

TEST(Placement, LogicalCores) {
  PlacementRequest request = ranks(1);
  request.use_logical_cores = true;
  EXPECT_EQ(place(machine(1, 2, 2), request).ranks[0].places, (std::vector<Place>{{0}, {2}, {1}, {3}}));
  request.ranks = 4;  // more than cores: a hardware thread each
  const Placement placement = place(machine(1, 2, 2), request);
  EXPECT_TRUE(placement.warnings.empty());
  expect_no_core_shared(placement);
}

TEST(Placement, ChosenNodesAndProcessors) {
  PlacementRequest request = ranks(1);
  request.nodes = {1};
  EXPECT_EQ(place(machine(2, 2), request).ranks[0].places, (std::vector<Place>{{2}, {3}}));
  request.nodes = {2};
  EXPECT_TRUE(contains(error_of([&] { place(machine(2, 2), request); }), "no node 2"));
  request = ranks(1);
  request.processors = {1, 2};
  EXPECT_EQ(place(machine(2, 2), request).ranks[0].nodes, (std::vector{0, 1}));
  request.processors = {9};
  EXPECT_TRUE(contains(error_of([&] { place(machine(2, 2), request); }), "core 9 is not available"));
}

TEST(Placement, CoresARank) {
  PlacementRequest request = ranks(2);
  request.cores_per_rank = 3;
  const Placement placement = place(machine(2, 4), request);
  EXPECT_EQ(placement.ranks[1].places, (std::vector<Place>{{4}, {5}, {6}}));
  request.cores_per_rank = 5;
  EXPECT_TRUE(contains(error_of([&] { place(machine(2, 4), request); }), "of this host have 4 core(s) each"));
}

TEST(Placement, ThreadsAreTheUsers) {
  PlacementRequest request = ranks(1);
  request.threads = 8;
  const Placement placement = place(machine(1, 4), request);
  EXPECT_EQ(placement.ranks[0].threads, 8);
  ASSERT_EQ(placement.warnings.size(), 1u);
  EXPECT_TRUE(contains(placement.warnings[0], "8 threads per rank share 4 core(s)"));
}

TEST(Placement, AQuotaLimitsThreadsAndPinsNone) {
  cpu::UsableMachine limited = machine(2, 8);
  limited.processor_quota = 5.0;
  const Placement placement = place(limited, ranks(2));
  EXPECT_EQ(placement.ranks[0].threads, 2);
  EXPECT_FALSE(placement.ranks[0].pinned);
  EXPECT_EQ(placement.ranks[0].places.size(), 8u);
}

TEST(Placement, MoreRanksThanCoresShareAllUnbound) {
  const Placement placement = place(machine(1, 2), ranks(4));
  ASSERT_EQ(placement.ranks.size(), 4u);
  EXPECT_FALSE(placement.ranks[3].pinned);
  EXPECT_EQ(placement.ranks[3].threads, 1);
  EXPECT_EQ(placement.ranks[3].processors(), (std::vector{0, 1}));
  ASSERT_EQ(placement.warnings.size(), 1u);
  EXPECT_TRUE(contains(placement.warnings[0], "4 ranks share 2 core(s)"));
  EXPECT_TRUE(contains(placement.warnings[0], "--num_processes 2"));
}

}  // namespace
}  // namespace hearth::launch
