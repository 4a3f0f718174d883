#include "hearth/comm/thread_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/plugins/collectives.h"
#include "tests/support.h"

namespace hearth::comm {
namespace {

class CollectivesOfThreads : public testing::TestWithParam<int> {};

TEST_P(CollectivesOfThreads, AgreeWithThePlainReference) {
  run_threads(GetParam(), [](ProcessGroup& group) { check_collectives(group); });
}

TEST_P(CollectivesOfThreads, AreCutWhereMessagesAreLimited) {
  ThreadWorldOptions options;
  options.max_message_bytes = 64;
  run_threads(
      GetParam(), [](ProcessGroup& group) { Collectives<BFloat16>(group).run(1031); }, options);
}

TEST_P(CollectivesOfThreads, RoundHalvesOnceAndGiveEveryRankTheSameBits) {
  constexpr std::size_t kCount = 999;
  const auto mine = [](int rank, std::size_t i) {
    return BFloat16(1.0f / static_cast<float>(i + 3 + static_cast<std::size_t>(rank) * 11));
  };
  run_threads(GetParam(), [&](ProcessGroup& group) {
    std::vector<BFloat16> half(kCount), expected(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      half[i] = mine(group.rank(), i);
      float sum = static_cast<float>(mine(0, i));
      for (int rank = 1; rank < group.size(); ++rank) sum += static_cast<float>(mine(rank, i));
      expected[i] = BFloat16(sum / static_cast<float>(group.size()));
    }
    group.all_reduce(half.data(), kCount, DType::bf16, ReduceOp::avg)->wait();
    for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(half[i].bits, expected[i].bits) << i;

    std::vector<float> whole(kCount);
    for (std::size_t i = 0; i < kCount; ++i) whole[i] = static_cast<float>(mine(group.rank(), i)) / 3;
    group.all_reduce(whole.data(), kCount, DType::f32)->wait();
    std::vector<float> all(kCount * static_cast<std::size_t>(group.size()));
    group.all_gather(whole.data(), all.data(), kCount, DType::f32)->wait();
    for (std::size_t rank = 0; rank < all.size() / kCount; ++rank)
      EXPECT_EQ(std::memcmp(all.data() + rank * kCount, whole.data(), kCount * sizeof(float)), 0);
  });
}

TEST_P(CollectivesOfThreads, ShareMemory) {
  ThreadWorldOptions options;
  options.shares_memory = true;
  const auto body = [](ProcessGroup& group) {
    ASSERT_TRUE(group.shares_memory());
    const std::shared_ptr<std::byte> memory = group.share(static_cast<std::size_t>(group.size()) * sizeof(int));
    int* const numbers = reinterpret_cast<int*>(memory.get());
    EXPECT_EQ(numbers[group.rank()], 0);
    numbers[group.rank()] = group.rank() + 1;
    group.barrier()->wait();
    for (int rank = 0; rank < group.size(); ++rank) EXPECT_EQ(numbers[rank], rank + 1);
  };
  run_threads(GetParam(), body, options);
  run_threads(GetParam(), [](ProcessGroup& group) {
    EXPECT_FALSE(group.shares_memory());
    EXPECT_EQ(group.share(64), nullptr);
  });
}

TEST_P(CollectivesOfThreads, RunInTheOrderTheyWereStarted) {
  run_threads(GetParam(), [](ProcessGroup& group) {
    std::int32_t number = 1;
    std::vector<WorkPtr> works;
    for (int i = 0; i < 4; ++i) works.push_back(group.all_reduce(&number, 1, DType::i32));
    works.back()->wait();
    for (const WorkPtr& work : works) EXPECT_TRUE(work->done());
    EXPECT_EQ(number, group.size() * group.size() * group.size() * group.size());
  });
}

TEST_P(CollectivesOfThreads, LetNeighboursBothSendFirst) {
  run_threads(GetParam(), [](ProcessGroup& group) {
    const int next = (group.rank() + 1) % group.size(), previous = (group.rank() + group.size() - 1) % group.size();
    std::int32_t forward = group.rank(), backward = -group.rank(), from_previous = 0, from_next = 0;
    const WorkPtr works[] = {
        group.send(&forward, 1, DType::i32, next, 1), group.send(&backward, 1, DType::i32, previous, 2),
        group.recv(&from_next, 1, DType::i32, next, 2), group.recv(&from_previous, 1, DType::i32, previous, 1)};
    for (const WorkPtr& work : works) work->wait();
    EXPECT_EQ(from_previous, previous);
    EXPECT_EQ(from_next, -next);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, CollectivesOfThreads, testing::Range(1, 6));

TEST(SelfGroup, WorksLikeOneRank) {
  const auto group = self_group();
  EXPECT_EQ(group->size(), 1);
  EXPECT_EQ(group->backend(), "self");
  check_collectives(*group);
}

TEST(ProcessGroups, RefuseRanksThatAreNotThere) {
  const auto group = self_group();
  float number = 0;
  EXPECT_TRUE(
      contains(error_of([&] { group->broadcast(&number, 1, DType::f32, 1); }), "broadcast: there is no rank 1"));
  EXPECT_TRUE(contains(error_of([&] { group->send(&number, 1, DType::f32, -1); }), "send: there is no rank -1"));
}

}  // namespace
}  // namespace hearth::comm
