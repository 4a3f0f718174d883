#include "hearth/parallel/partition.h"

#include <gtest/gtest.h>

namespace hearth::parallel {
namespace {

TEST(Partition, BucketsCoverTheArenaInOrder) {
  const std::int64_t elements = 100'000'000 / 16 * 16;
  const Partition partition(elements, 0, 4);
  const auto& buckets = partition.buckets();
  ASSERT_EQ(buckets.size(), 19u);  // 1 MiB, 14 of 25 MiB, then a half of what is left, down to a quarter of 25 MiB
  EXPECT_EQ(buckets[0].size() * 4, 1 << 20);
  for (std::size_t i = 1; i <= 14; ++i) EXPECT_EQ(buckets[i].size() * 4, 25 << 20);
  EXPECT_NEAR(static_cast<double>(buckets[15].size()), static_cast<double>(elements - buckets[15].begin) / 2, 64);
  EXPECT_EQ(buckets[17].size() * 4, (25 << 20) / 4);
  std::int64_t at = 0;
  for (const optim::Interval& bucket : buckets) {
    EXPECT_EQ(bucket.begin, at);
    at = bucket.end;
  }
  EXPECT_EQ(at, elements);
  ASSERT_EQ(partition.own().size(), 1u);
  EXPECT_EQ(partition.own()[0].size(), elements);
}

TEST(Partition, EveryElementIsOwnedOnce) {
  for (const std::int64_t elements : {16, 48, 160, 1600, 1616, 4816})
    for (const int ranks : {1, 2, 3, 4, 5, 16}) {
      std::vector<int> owners(static_cast<std::size_t>(elements));
      for (int rank = 0; rank < ranks; ++rank) {
        const Partition partition(elements, rank, ranks, {256, 1024, true});
        for (const optim::Interval& own : partition.own())
          for (std::int64_t i = own.begin; i < own.end; ++i) ++owners[static_cast<std::size_t>(i)];
        for (std::size_t b = 0; b + 1 < partition.buckets().size(); ++b)
          EXPECT_TRUE(partition.is_even(partition.buckets()[b]));
      }
      for (const int count : owners) ASSERT_EQ(count, 1) << elements << " elements, " << ranks << " ranks";
    }
}

TEST(Partition, ATableIsABucketOfItsOwn) {
  const std::vector<optim::Interval> tables{{96, 496}, {496, 512}};
  const Partition partition(800, 0, 2, {256, 1024, false}, tables);
  std::vector<std::int64_t> ends;
  for (const optim::Interval& bucket : partition.buckets()) ends.push_back(bucket.end);
  EXPECT_EQ(ends, (std::vector<std::int64_t>{64, 96, 496, 512, 672, 736, 800}));
  std::vector<int> owners(800);
  for (int rank = 0; rank < 3; ++rank) {
    const Partition sharded(800, rank, 3, {256, 1024, true}, tables);
    for (const optim::Interval& own : sharded.own())
      for (std::int64_t i = own.begin; i < own.end; ++i) ++owners[static_cast<std::size_t>(i)];
  }
  EXPECT_EQ(owners, std::vector<int>(800, 1));
}

}  // namespace
}  // namespace hearth::parallel
