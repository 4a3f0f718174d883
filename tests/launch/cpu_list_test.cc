#include "hearth/launch/place/cpu_list.h"

#include "tests/support.h"

namespace hearth::launch {
namespace {

TEST(CpuList, NumbersAndRanges) {
  EXPECT_EQ(parse_cpu_list("0-3,8", "x"), (std::vector{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_cpu_list("7", "x"), std::vector{7});
  EXPECT_EQ(cpu_list_text({8, 0, 1, 2, 3}), "0-3,8");
  EXPECT_EQ(cpu_list_text({}), "");
}

TEST(CpuList, WrongTextIsAnError) {
  for (const char* text : {"", "a", "1,", "1-", "-1", "1--2", "1 2", "99999999999"})
    EXPECT_TRUE(contains(error_of([&] { parse_cpu_list(text, "--cores_list"); }), "--cores_list")) << text;
  EXPECT_TRUE(contains(error_of([] { parse_cpu_list("3-1", "x"); }), "backwards"));
}

}  // namespace
}  // namespace hearth::launch
