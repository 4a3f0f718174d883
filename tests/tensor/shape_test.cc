#include "hearth/tensor/shape.h"

#include <gtest/gtest.h>

#include <vector>

#include "hearth/base/error.h"

namespace hearth {
namespace {

TEST(Shape, CountsItsElements) {
  EXPECT_EQ(Shape{}.size(), 1);
  EXPECT_EQ((Shape{7}).size(), 7);
  EXPECT_EQ((Shape{2, 3, 4}).size(), 24);
  EXPECT_EQ((Shape{2, 0, 4}).size(), 0);
}

TEST(Shape, HasRows) {
  EXPECT_EQ((Shape{2, 3, 4}).row_size(), 12);
  EXPECT_EQ((Shape{5}).row_size(), 1);
  EXPECT_EQ(Shape{}.row_size(), 1);
  EXPECT_EQ((Shape{2, 3}).with_first(9), (Shape{9, 3}));
  EXPECT_THROW(Shape{}.with_first(1), Error);
}

TEST(Shape, PrintsAsATuple) {
  EXPECT_EQ((Shape{12, 768}).to_string(), "(12, 768)");
  EXPECT_EQ(Shape{}.to_string(), "()");
}

TEST(Shape, ComparesRankAndDimensions) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{2}), (Shape{2, 0}));
}

TEST(Shape, RefusesWhatItCannotHold) {
  EXPECT_THROW((Shape{1, 1, 1, 1, 1}), Error);
  EXPECT_THROW((Shape{2, -1}), Error);
  EXPECT_EQ(Shape(std::vector<std::int64_t>{1, 2, 3, 4}).rank(), 4);
}

TEST(Shape, RefusesToCountWhatNoMemoryHolds) {
  constexpr std::int64_t half = std::int64_t{1} << 32, most = std::int64_t{1} << 59;
  EXPECT_EQ((Shape{most}).size(), most);
  EXPECT_EQ((Shape{2, most}).row_size(), most);
  EXPECT_THROW((Shape{2, most}).size(), Error);     // fits 64 bits, its bytes do not
  EXPECT_THROW((Shape{half, half}).size(), Error);  // 0 after overflow
  EXPECT_THROW((Shape{3, half, half}).row_size(), Error);
  try {
    (Shape{half, half}).size();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "[Shape] (4294967296, 4294967296) has more elements than any memory holds");
  }
}

}  // namespace
}  // namespace hearth
