#include "hearth/base/text_layout.h"

#include <gtest/gtest.h>

#include <sstream>

namespace hearth {
namespace {

TEST(TextLayout, CountsColumnsNotBytes) {
  EXPECT_EQ(columns_of(""), 0u);
  EXPECT_EQ(columns_of("abc"), 3u);
  EXPECT_EQ(columns_of("é"), 1u);
  EXPECT_EQ(columns_of("e\u0301"), 1u);  // a combining accent
  EXPECT_EQ(columns_of("中文"), 4u);
  EXPECT_EQ(columns_of("a\xff"), 5u);  // shown as "a\xff"
}

TEST(TextLayout, PrintableHasNoControlCharacters) {
  EXPECT_EQ(printable("naïve 中.json"), "naïve 中.json");
  EXPECT_EQ(printable(std::string_view("a\x1b[2Jb\n\t\0c\x7f\xff", 12)), R"(a\x1b[2Jb\x0a\x09\x00c\x7f\xff)");
  EXPECT_EQ(printable("\u0085 \u202egnp.exe\u2066"), R"(\u0085 \u202egnp.exe\u2066)");
  EXPECT_EQ(printable("cut \xe4\xb8"), R"(cut \xe4\xb8)");
  EXPECT_EQ(printable(R"(\x1b)"), R"(\x1b)");
}

TEST(TextLayout, PrintableLinesKeepTheirLayout) {
  EXPECT_EQ(printable_lines("a\tb\n\x1b[31mc\r\n"), "a\tb\n\\x1b[31mc\\x0d\n");
}

TEST(TextLayout, ShortenedKeepsWholeCharacters) {
  EXPECT_EQ(shortened("training", 8), "training");
  EXPECT_EQ(shortened("training", 7), "trai...");
  EXPECT_EQ(shortened("中文中文", 8), "中文中文");
  EXPECT_EQ(shortened("中文中文", 7), "中文...");
  EXPECT_EQ(shortened("中文中文", 6), "中...");  // half a character does not fit
  EXPECT_EQ(shortened("training", 2), "..");
  EXPECT_EQ(shortened("training", 0), "");
  for (std::size_t columns = 0; columns < 20; ++columns)
    EXPECT_LE(columns_of(shortened("中é文 a long title 中", columns)), columns);
}

TEST(TextLayout, WrappedBreaksBetweenWordsOnly) {
  EXPECT_EQ(wrapped("one two three", 7, 0), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 8, 2), "one\n  two\n  three");
  EXPECT_EQ(wrapped("one\ntwo three", 80, 2), "one\n  two three");
  EXPECT_EQ(wrapped("one two\nthree four", 8, 0), "one two\nthree\nfour");
  EXPECT_EQ(wrapped("extraordinarily long", 5, 1), "extraordinarily\n long");
  EXPECT_EQ(wrapped("中文 中文", 9, 0), "中文 中文");
  EXPECT_EQ(wrapped("中文 中文", 8, 0), "中文\n中文");
  EXPECT_EQ(wrapped("", 8, 0), "");
}

}  // namespace
}  // namespace hearth
