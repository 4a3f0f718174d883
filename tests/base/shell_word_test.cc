#include "hearth/base/shell_word.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

TEST(ShellWord, IsQuotedOnlyIfItHasToBe) {
  for (const char* plain : {"out/model-1", "--lr=3e-5", "a,b:c@d%e+f_G.h"}) EXPECT_EQ(shell_word(plain), plain);
  EXPECT_EQ(shell_word("my model"), "'my model'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
  for (const char special : std::string("~*?[]{}()<>|&;!#$`\"\\\t\n"))
    EXPECT_EQ(shell_word({special}), std::string("'") + special + "'");
}

}  // namespace
}  // namespace hearth
