#include "hearth/verify/world_check.h"

#include <gtest/gtest.h>

#include "tests/parallel/toy_team.h"
#include "tests/support.h"

namespace hearth::verify {
namespace {

using Failed = std::vector<std::string>;

// The group of another, but for one operation that does nothing.
class DeafGroup final : public comm::ForwardingGroup {
 public:
  DeafGroup(comm::ProcessGroup& inner, std::string deaf_to) : ForwardingGroup(inner), deaf_to_(std::move(deaf_to)) {}

  comm::WorkPtr all_reduce(void* data, std::size_t count, DType type, comm::ReduceOp op) override {
    return deaf_to_ == "all_reduce" ? barrier() : ForwardingGroup::all_reduce(data, count, type, op);
  }
  comm::WorkPtr reduce(void* data, std::size_t count, DType type, comm::ReduceOp op, int root) override {
    return deaf_to_ == "reduce" ? barrier() : ForwardingGroup::reduce(data, count, type, op, root);
  }
  comm::WorkPtr scatter(const void* whole, void* part, std::size_t count, DType type, int root) override {
    return deaf_to_ == "scatter" ? barrier() : ForwardingGroup::scatter(whole, part, count, type, root);
  }
  comm::WorkPtr reduce_scatter(const void* whole, void* part, std::size_t count, DType type,
                               comm::ReduceOp op) override {
    return deaf_to_ == "reduce_scatter" ? barrier() : ForwardingGroup::reduce_scatter(whole, part, count, type, op);
  }
  comm::WorkPtr all_to_all(const void* in, void* out, std::size_t count, DType type) override {
    return deaf_to_ == "all_to_all" ? barrier() : ForwardingGroup::all_to_all(in, out, count, type);
  }

 private:
  const std::string deaf_to_;
};

// The failures that every rank finds, the same on all, and the lines of the first rank's report.
Failed failures(int ranks, const std::string& deaf_to, std::string* lines = nullptr) {
  const LogCapture quiet;
  std::vector<Failed> failed(static_cast<std::size_t>(ranks));
  parallel::run_team(ranks, [&](const parallel::Team& team) {
    DeafGroup group(team.group(), deaf_to);
    Report report([&](bool, std::string_view line) {
      EXPECT_EQ(team.rank(), 0);
      if (lines != nullptr) *lines += std::string(line) + "\n";
    });
    failed[static_cast<std::size_t>(team.rank())] = check_world(parallel::team_of(group), report);
  });
  for (const Failed& names : failed) EXPECT_EQ(names, failed[0]);
  return failed[0];
}

TEST(WorldCheckTest, OneToFourRanksPass) {
  for (const int ranks : {1, 2, 3, 4}) EXPECT_EQ(failures(ranks, ""), Failed()) << ranks;
}

TEST(WorldCheckTest, TheOperationThatFailsIsNamed) {
  std::string lines;
  EXPECT_EQ(failures(2, "reduce", &lines), Failed{"reduce"});
  EXPECT_TRUE(contains(lines, "FAIL  reduce  rank 1: the result in fp32 is wrong from element 0 on"));
  EXPECT_EQ(failures(3, "scatter"), Failed{"scatter"});
  EXPECT_EQ(failures(3, "all_to_all"), Failed{"all_to_all"});
}

TEST(WorldCheckTest, WhatTrainsWithoutTheOthersIsFound) {
  EXPECT_EQ(failures(2, "all_reduce"), (Failed{"all_reduce", "data sharding", "training in fp32", "training in bf16",
                                               "training with a sharded optimizer"}));
  const Failed sharded = failures(2, "reduce_scatter");
  EXPECT_EQ(sharded.front(), "reduce_scatter");
  EXPECT_EQ(sharded.back(), "training with a sharded optimizer");
}

}  // namespace
}  // namespace hearth::verify
