#include "hearth/data/sampler.h"

#include <algorithm>
#include <numeric>

#include "hearth/io/json.h"
#include "tests/support.h"

namespace hearth::data {
namespace {

using Indices = std::vector<std::int64_t>;

std::vector<Indices> all_batches(const RankBatches& batches) {
  std::vector<Indices> all;
  for (std::int64_t i = 0; i < batches.size(); ++i) all.push_back(batches[i]);
  return all;
}

TEST(ShuffledOrder, IsTorchRandperm) {
  // torch.randperm(10, generator=torch.Generator().manual_seed(42))
  EXPECT_EQ(shuffled_order(10, 42, 0), (Indices{2, 6, 1, 8, 4, 5, 0, 9, 3, 7}));
  EXPECT_EQ(shuffled_order(10, 40, 2), shuffled_order(10, 42, 0));
  EXPECT_EQ(shuffled_order(1, 7, 0), Indices{0});
  EXPECT_TRUE(shuffled_order(0, 7, 0).empty());
}

TEST(LengthGroupedOrder, SortsMegaBatchesAndBeginsWithTheLongest) {
  Indices lengths(1000);
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = static_cast<std::int64_t>(i * 7919 % 997);
  const std::int64_t batch_size = 8, mega_batch = 8 * (1000 / 32);
  Indices order = length_grouped_order(lengths, batch_size, 3, 1);
  EXPECT_EQ(lengths[order.front()], *std::max_element(lengths.begin(), lengths.end()));
  for (std::size_t begin = 0; begin < order.size(); begin += mega_batch) {
    const std::size_t end = std::min<std::size_t>(order.size(), begin + mega_batch);
    for (std::size_t i = begin + 2; i < end; ++i) EXPECT_GE(lengths[order[i - 1]], lengths[order[i]]) << i;
  }
  EXPECT_EQ(order, length_grouped_order(lengths, batch_size, 3, 1));
  EXPECT_NE(order, length_grouped_order(lengths, batch_size, 3, 2));
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, sequential_order(1000));
}

TEST(LengthGroupedOrder, FewIndices) {
  EXPECT_TRUE(length_grouped_order({}, 4, 1, 0).empty());
  const Indices lengths{5, 9, 7};
  EXPECT_EQ(length_grouped_order(lengths, 4, 1, 0), (Indices{1, 2, 0}));
}

TEST(RankBatches, OneRankGetsAShortLastBatch) {
  EXPECT_EQ(all_batches(RankBatches(sequential_order(5), {.batch_size = 2})),
            (std::vector<Indices>{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(all_batches(RankBatches(sequential_order(5), {.batch_size = 2, .drop_last = true})),
            (std::vector<Indices>{{0, 1}, {2, 3}}));
  EXPECT_EQ(RankBatches({}, {.batch_size = 2}).size(), 0);
}

TEST(RankBatches, SeveralRanksWrapAround) {
  const auto rank = [](std::int64_t number, std::int64_t count, bool drop_last = false) {
    return all_batches(
        RankBatches(sequential_order(count), {.batch_size = 2, .drop_last = drop_last, .world = 3, .rank = number}));
  };
  EXPECT_EQ(rank(0, 7), (std::vector<Indices>{{0, 1}, {6, 0}}));
  EXPECT_EQ(rank(1, 7), (std::vector<Indices>{{2, 3}, {1, 2}}));
  EXPECT_EQ(rank(2, 7), (std::vector<Indices>{{4, 5}, {3, 4}}));
  EXPECT_EQ(rank(2, 7, true), (std::vector<Indices>{{4, 5}}));
  EXPECT_EQ(rank(2, 6), (std::vector<Indices>{{4, 5}}));
  EXPECT_EQ(rank(0, 1), (std::vector<Indices>{{0, 0}}));
  EXPECT_EQ(rank(2, 3), (std::vector<Indices>{{1, 2}}));
  EXPECT_TRUE(rank(2, 5, true).empty());
}

TEST(RankBatches, RefusesImpossibleWorlds) {
  EXPECT_THROW(RankBatches(sequential_order(3), {.batch_size = 0}), Error);
  EXPECT_THROW(RankBatches(sequential_order(3), {.batch_size = 1, .world = 2, .rank = 2}), Error);
}

TEST(RankBatches, Goldens) {
  if (goldens().empty()) GTEST_SKIP() << "HEARTH_GOLDENS_DIR is not set";
  const io::Json cases = io::read_json(goldens() / "data_order.json");
  ASSERT_FALSE(cases.empty());
  for (const io::Json& expected : cases) {
    const auto order = shuffled_order(expected["n"], expected["seed"], expected["epoch"]);
    const RankBatches batches(
        order, {.batch_size = expected["batch_size"], .world = expected["world"], .rank = expected["rank"]});
    EXPECT_EQ(all_batches(batches), expected["batches"].get<std::vector<Indices>>());
  }
}

}  // namespace
}  // namespace hearth::data
