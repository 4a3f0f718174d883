#include "hearth/autograd/row_set.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

TEST(RowSet, HoldsRowsOrAll) {
  RowSet rows = RowSet::none(5);
  EXPECT_FALSE(rows.is_all());
  EXPECT_TRUE(rows.list().empty());
  rows.add(std::vector<std::int32_t>{3, 0, 3});
  EXPECT_EQ(rows.list(), (std::vector<std::int32_t>{0, 3}));
  rows.add(RowSet(std::vector<std::uint8_t>{0, 1, 0, 1, 0}));
  EXPECT_EQ(rows.list(), (std::vector<std::int32_t>{0, 1, 3}));
  EXPECT_EQ(rows.flags(5), (std::vector<std::uint8_t>{1, 1, 0, 1, 0}));
  rows.add(RowSet());
  EXPECT_TRUE(rows.is_all());
  rows.add(std::vector<std::int32_t>{2});
  rows.add(RowSet::none(5));
  EXPECT_TRUE(rows.is_all());
  EXPECT_EQ(rows.flags(2), (std::vector<std::uint8_t>{1, 1}));
}

}  // namespace
}  // namespace hearth
