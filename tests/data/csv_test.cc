#include "hearth/data/csv.h"

#include <gtest/gtest.h>

namespace hearth::data {
namespace {

TEST(CsvReader, ReadsQuotedFields) {
  CsvReader reader(io::TextBuffer("\xEF\xBB\xBF"
                                  "a,b,c\r\n\n\"x,\"\"y\"\"\nz\",,\"\"\nlast,1,2",
                                  "f"),
                   ',');
  std::vector<std::string> fields;
  using Fields = std::vector<std::string>;
  EXPECT_TRUE(reader.next(fields));
  EXPECT_EQ(fields, (Fields{"a", "b", "c"}));
  EXPECT_TRUE(reader.next(fields));
  EXPECT_EQ(fields, (Fields{"x,\"y\"\nz", "", ""}));
  EXPECT_TRUE(reader.next(fields));
  EXPECT_EQ(fields, (Fields{"last", "1", "2"}));
  EXPECT_FALSE(reader.next(fields));
}

// As Python's csv module reads the dialect excel-tab.
TEST(CsvReader, ReadsTabs) {
  CsvReader reader(io::TextBuffer("a\tb,c\t\"x\ty\"\n\td \"e\"\t\n", "f"), '\t');
  std::vector<std::string> fields;
  using Fields = std::vector<std::string>;
  EXPECT_TRUE(reader.next(fields));
  EXPECT_EQ(fields, (Fields{"a", "b,c", "x\ty"}));
  EXPECT_TRUE(reader.next(fields));
  EXPECT_EQ(fields, (Fields{"", "d \"e\"", ""}));
  EXPECT_FALSE(reader.next(fields));
}

}  // namespace
}  // namespace hearth::data
