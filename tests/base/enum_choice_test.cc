#include <gtest/gtest.h>

#include <algorithm>

#include "hearth/base/arguments.h"
#include "hearth/base/dtype.h"
#include "tests/support.h"

namespace hearth {
namespace {

using Words = std::vector<std::string>;

enum class Season { no, spring, autumn };
constexpr std::array<std::string_view, 3> names_of(Season) { return {"no", "spring", "autumn"}; }

static_assert(NamedEnum<Season> && NamedEnum<DType> && !NamedEnum<int>);
static_assert(name_of(Season::autumn) == "autumn");
static_assert(value_named<DType>("bf16") == DType::bf16);
static_assert(!value_named<Season>("winter"));

class EnumChoice : public testing::Test {
 protected:
  EnumChoice() {
    options.add("season", choice(&season), "when");
    options.add("dtype", choice(&dtype, {DType::f32, DType::bf16}), "what");
  }
  std::string error(const Words& words) {
    return error_of([&] { options.parse(words); });
  }
  Arguments::Resolved resolved(std::string_view name) const {
    return *std::ranges::find(values_ = options.values(), name, &Arguments::Resolved::name);
  }

  Season season = Season::spring;
  DType dtype = DType::f32;
  Arguments options{"hearth test", "A test."};

 private:
  mutable std::vector<Arguments::Resolved> values_;
};

TEST_F(EnumChoice, IsSetByItsName) {
  options.parse(Words{"--season", "autumn", "--dtype=bf16"});
  EXPECT_EQ(season, Season::autumn);
  EXPECT_EQ(dtype, DType::bf16);
  EXPECT_EQ(resolved("season").text, "autumn");
  EXPECT_EQ(resolved("season").value, ArgumentValue("autumn"));
  EXPECT_FALSE(resolved("season").is_default);
}

TEST_F(EnumChoice, KeepsTheDefault) {
  options.parse({});
  EXPECT_EQ(season, Season::spring);
  EXPECT_TRUE(resolved("season").is_default);
}

TEST_F(EnumChoice, OtherNamesAreRefused) {
  EXPECT_EQ(error({"--season", "winter"}), "--season: 'winter' is none of no, spring, autumn");
  EXPECT_EQ(error({"--dtype", "fp16"}), "--dtype: 'fp16' is none of fp32, bf16");  // a name, but not allowed here
  EXPECT_EQ(error({"--season"}), "--season needs a value");
  EXPECT_EQ(season, Season::spring);
}

TEST_F(EnumChoice, AValueSetDirectlyIsChecked) {
  dtype = DType::f16;
  EXPECT_EQ(error_of([&] { options.check_values(); }), "--dtype: 'fp16' is none of fp32, bf16");
}

TEST_F(EnumChoice, IsListedByItsNames) {
  EXPECT_TRUE(contains(options.help(120), "when: no, spring, autumn [spring]"));
  EXPECT_EQ(options.declared()[1].choices, (Words{"fp32", "bf16"}));
}

TEST_F(EnumChoice, TakesYamlsFalseForNo) {
  options.set("season", Words{"false"}, "job.yaml");
  EXPECT_EQ(season, Season::no);
  EXPECT_EQ(error_of([&] { options.set("season", Words{"winter"}, "job.yaml"); }),
            "job.yaml: season: 'winter' is none of no, spring, autumn");
}

TEST(OptionAttributes, AreToldWithTheValues) {
  bool quiet = false;
  std::string folder, name;
  Arguments options;
  options.add("folder", &folder, "").per_process();
  options.add("name", &name, "");
  options.add("quiet", &quiet, "");
  options.ignored_switches({"no_cuda"}, "there is only the CPU");
  EXPECT_TRUE(options.values()[0].per_process && !options.values()[1].per_process);
  std::vector<bool> switches;
  for (const Arguments::Declared& flag : options.declared()) switches.push_back(flag.is_switch);
  EXPECT_EQ(switches, (std::vector<bool>{false, false, true, true}));
}

}  // namespace
}  // namespace hearth
