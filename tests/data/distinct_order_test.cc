#include "hearth/data/distinct_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "hearth/data/sampler.h"

namespace hearth::data {
namespace {

using Items = std::vector<std::int64_t>;

TEST(DistinctOrder, TakesEachItemAtTheFirstBatchWhereItFits) {
  // Items 0 and 1 share the value 7, items 2 and 4 the value 9.
  const Items values{7, 7, 9, 5, 9, 6};
  EXPECT_EQ(distinct_order({0, 1, 2, 3, 4, 5}, values, 1, 3), (Items{0, 2, 3, 1, 4, 5}));
  EXPECT_EQ(distinct_order({0, 1, 2, 3, 4, 5}, values, 1, 4), (Items{0, 2, 3, 5, 1, 4}));
}

TEST(DistinctOrder, ItemsOfTheBeginningFillUpWhatTheLastOnesCannot) {
  const Items values{7, 1, 2, 7, 7, 7};
  const auto order = distinct_order({0, 1, 2, 3, 4, 5}, values, 1, 3);
  EXPECT_EQ(order, (Items{0, 1, 2, 3, 1, 2}));
}

TEST(DistinctOrder, NothingWhereNoBatchCanBeFilled) {
  EXPECT_EQ(distinct_order({0, 1, 2}, Items{5, 5, 5}, 1, 2), std::nullopt);
  EXPECT_EQ(distinct_order({0, 1, 2}, Items{5, 5, 5}, 1, 1), (Items{0, 1, 2}));
}

TEST(DistinctOrder, NoBatchOfManyHasAValueTwice) {
  constexpr std::int64_t kItems = 500, kBatch = 16;
  Items values;
  for (const std::int64_t item : shuffled_order(kItems, 3, 0)) {
    values.push_back(1000 + item % 60);
    values.push_back(item % 90);
  }
  const auto order = distinct_order(shuffled_order(kItems, 0, 1), values, 2, kBatch);
  ASSERT_TRUE(order.has_value());
  ASSERT_EQ(order->size(), kItems);
  for (std::int64_t begin = 0; begin < kItems; begin += kBatch) {
    std::set<std::int64_t> seen;
    for (std::int64_t i = begin; i < std::min(begin + kBatch, kItems); ++i)
      for (const std::int64_t at : {2 * (*order)[i], 2 * (*order)[i] + 1}) EXPECT_TRUE(seen.insert(values[at]).second);
  }
}

}  // namespace
}  // namespace hearth::data
