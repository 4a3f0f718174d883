#include "hearth/tokenizer/text.h"

#include <gtest/gtest.h>

namespace hearth::tokenizer::python {
namespace {

TEST(PythonText, CountsAndCutsCodePoints) {
  EXPECT_EQ(length(""), 0);
  EXPECT_EQ(length("aä北😀"), 4);
  EXPECT_EQ(slice("aä北😀", 1, 3), "ä北");
  EXPECT_EQ(slice("aä北😀", 3, 99), "😀");
  EXPECT_EQ(slice("aä北😀", 2, 1), "");
  EXPECT_EQ(slice("aä", 7, 9), "");
  EXPECT_EQ(suffix("aä北😀", 2), "北😀");
  EXPECT_EQ(suffix("aä", 2), "");
}

TEST(PythonText, SpaceIsUnicodes) {
  EXPECT_EQ(lstrip(" \t\v\x1c\u0085\u00a0\u1680\u2003\u2028\u202f\u205f\u3000a "), "a ");
  EXPECT_EQ(lstrip("\u200b a"), "\u200b a");
  EXPECT_EQ(lstrip(" \u00a0"), "");
  EXPECT_EQ(split("\u2003 a\u00a0ä\n\n北 "), (std::vector<std::string_view>{"a", "ä", "北"}));
  EXPECT_TRUE(split(" \u3000").empty());
}

// Expected: str.lower() of CPython 3.11.
TEST(PythonText, Lower) {
  EXPECT_EQ(lower("ABCÄÖÉ ЖШ Ａ ẞ ǅ Ⅷ Ⓐ 𐐀"), "abcäöé жш ａ ß ǆ ⅷ ⓐ 𐐨");
  EXPECT_EQ(lower("İI"), "i\u0307i");
  EXPECT_EQ(lower("ΟΔΟΣ ΣΑΣ Σ ΣΣ"), "οδος σας σ σς");
  EXPECT_EQ(lower("ΑΣ'Β ΑΣ. ΑΣ\u0301 ΑΣ\u0301Β 1Σ"), "ασ'β ας. ας\u0301 ασ\u0301β 1σ");
}

TEST(PythonText, WordCharacters) {
  for (const char32_t c : std::u32string_view(U"aZ0_é北ß½Ⅷ٣ª")) EXPECT_TRUE(is_word(c)) << static_cast<unsigned>(c);
  for (const char32_t c : std::u32string_view(U" -.\u0301\u00a0—€😀\u203f\n")) {
    EXPECT_FALSE(is_word(c)) << static_cast<unsigned>(c);
  }
}

}  // namespace
}  // namespace hearth::tokenizer::python
