#include "hearth/base/split.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

using Parts = std::vector<std::string>;

TEST(Split, GivesThePartsBetweenSeparators) {
  EXPECT_EQ(split("data/train/0.csv", '/'), (Parts{"data", "train", "0.csv"}));
  EXPECT_EQ(split("one", ','), Parts{"one"});
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a,,b,", ','), (Parts{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), Parts{""});
}

}  // namespace
}  // namespace hearth
