#include "hearth/train/item_values.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/parallel/toy_team.h"

namespace hearth {
namespace {

std::vector<float> row_of(const ItemValues& values, std::int64_t item) {
  return {values[item].begin(), values[item].end()};
}

TEST(ItemValues, HaveRowsOfAnyLength) {
  ItemValues values(3);
  EXPECT_EQ(values.size(), 3);
  values.set(2, {1, 2, 3});
  values.set(0, {4});
  EXPECT_EQ(row_of(values, 0), std::vector<float>{4});
  EXPECT_TRUE(values[1].empty());
  EXPECT_EQ(row_of(values, 2), (std::vector<float>{1, 2, 3}));
  values.gather({});  // one process has them all
  EXPECT_EQ(row_of(values, 2), (std::vector<float>{1, 2, 3}));
}

TEST(ItemValues, AreGatheredFromATeam) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  parallel::run_team(4, [](const parallel::Team& team) {
    ItemValues values(6);
    if (team.rank() == 0) values.set(3, {10});
    if (team.rank() == 1) {
      values.set(5, {20, 21, 22});
      values.set(0, {kInfinity, -0.0f});
    }
    if (team.rank() == 3) {  // the third has nothing
      values.set(1, {});
      values.set(4, {40, 41});
    }
    values.gather(team);
    if (!team.is_first()) return;
    EXPECT_EQ(row_of(values, 0), (std::vector<float>{kInfinity, -0.0f}));
    EXPECT_TRUE(values[1].empty());
    EXPECT_TRUE(values[2].empty());
    EXPECT_EQ(row_of(values, 3), std::vector<float>{10});
    EXPECT_EQ(row_of(values, 4), (std::vector<float>{40, 41}));
    EXPECT_EQ(row_of(values, 5), (std::vector<float>{20, 21, 22}));
  });
}

}  // namespace
}  // namespace hearth
