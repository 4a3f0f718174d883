#include "hearth/io/yaml.h"

#include "hearth/io/json.h"
#include "tests/support.h"

namespace hearth::io {
namespace {

Json read(std::string_view text) { return parse_yaml(text, "file.yaml"); }
std::string error_in(std::string_view text) {
  return error_of([&] { read(text); });
}

TEST(Yaml, ReadsPlainValuesAsPyYamlDoes) {
  EXPECT_EQ(read("a: 1\nb: -7\nc: +3\n"), (Json{{"a", 1}, {"b", -7}, {"c", 3}}));
  EXPECT_EQ(read("a: yes\nb: NO\nc: true\nd: Off\n"), (Json{{"a", true}, {"b", false}, {"c", true}, {"d", false}}));
  EXPECT_EQ(read("a: null\nb: ~\nc:\n"), (Json{{"a", nullptr}, {"b", nullptr}, {"c", nullptr}}));
  EXPECT_EQ(read("a: 1.5\nb: 1e3\nc: inf\nd: 1.2.3.4\n"),
            (Json{{"a", 1.5}, {"b", "1e3"}, {"c", "inf"}, {"d", "1.2.3.4"}}));
}

TEST(Yaml, KeepsWhatStandsInQuotes) {
  EXPECT_EQ(read("a: 'no'\nb: \"1\"\nc: ''\n"), (Json{{"a", "no"}, {"b", "1"}, {"c", ""}}));
}

TEST(Yaml, ReadsTablesListsAndJson) {
  const Json expected{{"t", {{"x", true}}}, {"l", {1, "two"}}, {"e", Json::array()}, {"m", Json::object()}};
  EXPECT_EQ(read("t:\n  x: true\nl:\n- 1\n- two\ne: []\nm: {}\n"), expected);
  EXPECT_EQ(read(dump_json(expected, 2)), expected);
}

TEST(Yaml, NamesTheLineOfAnError) {
  EXPECT_TRUE(contains(error_in("a: 1\nb: 'x"), "file.yaml, line 2"));
  EXPECT_TRUE(contains(error_in("a: 1\n b: 2\n"), "file.yaml, line 2"));
  EXPECT_TRUE(contains(error_in("{\"a\": 1,\n \"b\""), "file.yaml, line 2"));
  EXPECT_TRUE(contains(error_in("a: 1\nb: 2\nmain_proc"), "file.yaml, line 3: \"main_proc\" has no colon"));
  EXPECT_TRUE(contains(error_in("t:\n  x: 1\n  ipe"), "file.yaml, line 3"));
  EXPECT_TRUE(contains(error_in("a: 1\nb: 2\na: 3\n"), "line 3: \"a\" is given twice"));
}

TEST(Yaml, RefusesAnchorsAndAliases) {
  EXPECT_TRUE(contains(error_in("x: &a [*a]"), "file.yaml, line 1: the anchor &a is not supported"));
  EXPECT_TRUE(contains(error_in("a: 1\nb: &base {x: 1}\nc: *base\n"), "line 2: the anchor &base"));
  EXPECT_TRUE(contains(error_in("a: *nowhere"), "file.yaml, line 1"));
  std::string laughs = "a0: &a0 ha\n";
  for (int i = 1; i < 30; ++i) laughs += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}]\n", i, i - 1);
  EXPECT_TRUE(contains(error_in(laughs), "line 1: the anchor &a0"));
}

TEST(Yaml, BoundsDepthAndNumberOfValues) {
  EXPECT_EQ(error_in(std::string(50, '[') + std::string(50, ']')), "");
  EXPECT_TRUE(contains(error_in(std::string(101, '[') + std::string(101, ']')), "line 1: values are nested deeper"));
  EXPECT_TRUE(contains(error_in("a:\n " + std::string(100'000, '[')), "line 2: values are nested deeper"));
  std::string many;
  for (int i = 0; i < 100'001; ++i) many += "-\n";
  EXPECT_TRUE(contains(error_in(many), "the file has more than 100000 values"));
}

TEST(Yaml, RefusesWhatIsNoKey) {
  EXPECT_TRUE(contains(error_in("a: 1\n? [b, c]\n: 2\n"), "line 2: a key must be a word"));
  EXPECT_TRUE(contains(error_in("a: \xff"), "file.yaml is not UTF-8"));
}

TEST(Yaml, WritesWhatPyYamlWrites) {
  const Json value{{"word", "bf16"},
                   {"no", "no"},
                   {"number", 3},
                   {"text_number", "3"},
                   {"truth", false},
                   {"none", nullptr},
                   {"ip", "36.112.23.24"},
                   {"list", Json::array()},
                   {"table", {{"b", "x"}, {"a", ""}}}};
  EXPECT_EQ(dump_yaml(value),
            "ip: 36.112.23.24\nlist: []\n'no': 'no'\nnone: null\nnumber: 3\ntable:\n  a: ''\n  b: x\n"
            "text_number: '3'\ntruth: false\nword: bf16\n");
  EXPECT_EQ(dump_json(read(dump_yaml(value)), kOneLine), dump_json(value, kOneLine, true));
}

}  // namespace
}  // namespace hearth::io
