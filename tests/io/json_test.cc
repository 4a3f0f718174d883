#include "hearth/io/json.h"

#include <cmath>
#include <limits>
#include <random>

#include "hearth/io/file.h"
#include "tests/support.h"

namespace hearth::io {
namespace {

using JsonTest = TemporaryFolder;

std::string one_line(const Json& value) { return dump_json(value, kOneLine); }
std::string syntax_error(std::string_view text) {
  return error_of([&] { parse_json(text, "f.json"); });
}

// Expected strings: json.dumps of CPython 3.11.
TEST(JsonDump, NumbersAsPython) {
  const std::pair<double, const char*> floats[] = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1.0, "1.0"},
      {0.1, "0.1"},
      {-2.5, "-2.5"},
      {0.1 + 0.2, "0.30000000000000004"},
      {1.0 / 3, "0.3333333333333333"},
      {3e-5, "3e-05"},
      {1e-05, "1e-05"},
      {0.0001, "0.0001"},
      {0.00012345, "0.00012345"},
      {9.999e-05, "9.999e-05"},
      {123456789.0, "123456789.0"},
      {1e15, "1000000000000000.0"},
      {1234567890123456.0, "1234567890123456.0"},
      {9007199254740994.0, "9007199254740994.0"},
      {9999999999999998.0, "9999999999999998.0"},
      {1e16, "1e+16"},
      {1.5e16, "1.5e+16"},
      {1e22, "1e+22"},
      {1e23, "1e+23"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {5e-324, "5e-324"},
      {2.2250738585072014e-308, "2.2250738585072014e-308"},
      {1e100, "1e+100"},
      {1e-7, "1e-07"},
      {static_cast<double>(0.1f), "0.10000000149011612"},
      {std::numeric_limits<double>::quiet_NaN(), "NaN"},
      {std::numeric_limits<double>::infinity(), "Infinity"},
      {-std::numeric_limits<double>::infinity(), "-Infinity"},
  };
  for (const auto& [value, text] : floats) EXPECT_EQ(one_line(value), text);
  EXPECT_EQ(one_line(0), "0");
  EXPECT_EQ(one_line(-7), "-7");
  EXPECT_EQ(one_line(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(one_line(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
}

TEST(JsonDump, StringsAsPython) {
  EXPECT_EQ(one_line(""), R"("")");
  EXPECT_EQ(one_line("a/b \"c\" \\"), R"("a/b \"c\" \\")");
  EXPECT_EQ(one_line("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(one_line(std::string("\0\x01\x1f\x7f ~", 6)), R"("\u0000\u0001\u001f\u007f ~")");
  EXPECT_EQ(one_line("\u00e9\u20ac\ufffd"), R"("\u00e9\u20ac\ufffd")");
  EXPECT_EQ(one_line("\U0001f600\U0010ffff"), R"("\ud83d\ude00\udbff\udfff")");
}

TEST(JsonDump, RefusesWhatIsNotUtf8) {
  for (const char* bad : {"ab\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"}) {
    EXPECT_TRUE(contains(error_of([&] { one_line(bad); }), "not valid UTF-8")) << bad;
  }
}

TEST(JsonDump, LayoutAsPython) {
  const Json value = {{"b", {1, 2.0, nullptr}}, {"a", {{"x", true}, {"e", Json::object()}}}, {"l", Json::array()}};
  EXPECT_EQ(dump_json(value, kOneLine), R"({"b": [1, 2.0, null], "a": {"x": true, "e": {}}, "l": []})");
  EXPECT_EQ(dump_json(value, kOneLine, true), R"({"a": {"e": {}, "x": true}, "b": [1, 2.0, null], "l": []})");
  EXPECT_EQ(dump_json(value, 2, true),
            "{\n  \"a\": {\n    \"e\": {},\n    \"x\": true\n  },\n  \"b\": [\n    1,\n    2.0,\n    null\n  ],\n"
            "  \"l\": []\n}");
  EXPECT_EQ(dump_json(value, 0),
            "{\n\"b\": [\n1,\n2.0,\nnull\n],\n\"a\": {\n\"x\": true,\n\"e\": {}\n},\n\"l\": []\n}");
  EXPECT_EQ(dump_json(Json::object(), 4), "{}");
  EXPECT_EQ(dump_json(Json::array(), 4), "[]");
}

TEST(JsonDump, SortsByCodePoint) {
  const Json value = {{"\uffff", 1}, {"\U00010000", 2}, {"a", 3}, {"B", 4}, {"", 5}};
  EXPECT_EQ(dump_json(value, kOneLine, true), R"({"": 5, "B": 4, "a": 3, "\uffff": 1, "\ud800\udc00": 2})");
}

TEST(JsonParse, Values) {
  const Json value =
      parse_json(" {\"a\" : [1, -2, 3.5, 1e2, 0, -0, true, false, null, []], \"b\":{} }\r\n\t", "f.json");
  EXPECT_EQ(one_line(value), R"({"a": [1, -2, 3.5, 100.0, 0, 0, true, false, null, []], "b": {}})");
  EXPECT_EQ(parse_json("\xEF\xBB\xBF[1]", "f.json"), Json::array({1}));
  EXPECT_EQ(parse_json("-9223372036854775808", "f.json").get<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_json("18446744073709551615", "f.json").get<std::uint64_t>(),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(one_line(parse_json("18446744073709551616", "f.json")), "1.8446744073709552e+19");
  EXPECT_EQ(one_line(parse_json("[5e-324, 1.7976931348623157e308]", "f.json")), "[5e-324, 1.7976931348623157e+308]");
}

TEST(JsonParse, Strings) {
  const Json value =
      parse_json(R"(["\"\\\/\b\f\n\r\t", "\u00E9\u20ac", "\ud83d\ude00", "é€😀", "\u0000", ""])", "f.json");
  EXPECT_EQ(value[0], "\"\\/\b\f\n\r\t");
  EXPECT_EQ(value[1], "\u00e9\u20ac");
  EXPECT_EQ(value[2], "\U0001f600");
  EXPECT_EQ(value[3], "\u00e9\u20ac\U0001f600");
  EXPECT_EQ(value[4], std::string(1, '\0'));
  EXPECT_EQ(value[5], "");
}

TEST(JsonParse, NumbersThatPythonWrites) {
  const Json value = parse_json("[NaN, Infinity, -Infinity]", "f.json");
  EXPECT_TRUE(std::isnan(value[0].get<double>()));
  EXPECT_EQ(one_line(value), "[NaN, Infinity, -Infinity]");
}

TEST(JsonParse, OfEqualKeysTheLastCounts) {
  const std::string text = R"({"a": 1, "b": 2, "a": {"c": 3}})";
  EXPECT_EQ(one_line(parse_json(text, "f.json")), R"({"a": {"c": 3}, "b": 2})");
  EXPECT_EQ(error_of([&] { parse_json_strict(text, "f.json"); }), R"(f.json has the key "a" twice)");
}

TEST(JsonParse, ErrorsNameThePlace) {
  EXPECT_EQ(syntax_error("{\n  \"a\": 1,\n  \"\u00e9\": tru\n}"),
            "f.json is not valid JSON: line 3, column 8: a value was expected");
  EXPECT_EQ(syntax_error("[1, 2"),
            "f.json is not valid JSON: column 6: \",\" or \"]\" was expected, but the text ends here");
  EXPECT_EQ(syntax_error("{\"a\" 1}"), "f.json is not valid JSON: column 6: \":\" was expected");
  EXPECT_EQ(syntax_error("{a: 1}"), "f.json is not valid JSON: column 2: a key in double quotes was expected");
  EXPECT_EQ(syntax_error(std::string(400, '9')),
            "f.json is not valid JSON: column 1: a whole number beyond the range of a double");
}

// As Python's float() reads them.
TEST(JsonParse, NumbersBeyondADoubleAreZeroOrInfinity) {
  const std::string zeros(400, '0'), nines(400, '9');
  for (const std::string& tiny : {std::string("1e-400"), "0." + zeros + "1", "0." + zeros + "123e20",
                                  "12" + zeros + ".5e-800", std::string("9.9e-99999999999999999999")})
    for (const char* sign : {"", "-"})
      EXPECT_EQ(one_line(parse_json(sign + tiny, "f.json")), std::string(sign) + "0.0") << tiny;
  for (const std::string& huge : {std::string("1e400"), std::string("1E+999"), nines + ".5", nines + "e-50",
                                  "0." + zeros + "1e900", std::string("0.1e99999999999999999999")}) {
    EXPECT_EQ(one_line(parse_json(huge, "f.json")), "Infinity") << huge;
    EXPECT_EQ(one_line(parse_json("-" + huge, "f.json")), "-Infinity") << huge;
  }
  EXPECT_EQ(one_line(parse_json("[5e-324, 1.7976931348623157e308, 0e999, 0.0e-999]", "f.json")),
            "[5e-324, 1.7976931348623157e+308, 0.0, 0.0]");
}

TEST(JsonParse, RefusesWhatIsNotJson) {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[",
                           "[1,]",
                           "{\"a\":1,}",
                           "{,}",
                           "[,1]",
                           "01",
                           "-",
                           "+1",
                           "1.",
                           ".5",
                           "1e",
                           "1e+",
                           "0x1",
                           "nan",
                           "True",
                           "'a'",
                           "\"a",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\u12g4\"",
                           "\"\\u+123\"",
                           "\"\\ud800\"",
                           "\"\\ud800x\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "\"\n\"",
                           "\"\xff\"",
                           "\"\xc0\xaf\"",
                           "1 2",
                           "{} x",
                           "nulll",
                           "// a\n1"}) {
    EXPECT_TRUE(contains(syntax_error(text), "f.json is not valid JSON: ")) << text;
  }
}

TEST(JsonParse, DepthIsBounded) {
  EXPECT_EQ(syntax_error(std::string(900, '[') + std::string(900, ']')), "");
  EXPECT_TRUE(contains(syntax_error(std::string(100'000, '[')), "nested deeper than 1000 levels"));
}

TEST(JsonParse, ManyKeysTakeLinearTime) {
  std::string text = "{\"first\": 0";
  for (int i = 0; i < 200'000; ++i) text += fmt::format(", \"##key{}\": {}", i, i);
  const Json value = parse_json(text + "}", "vocab.json");
  EXPECT_EQ(value.size(), 200'001u);
  EXPECT_EQ(value.back(), 199'999);
}

TEST(JsonParse, GivesBackWhatWasDumped) {
  std::mt19937_64 random(7);
  Json values = Json::array();
  while (values.size() < 2000) {
    const double value = std::bit_cast<double>(random());
    if (std::isfinite(value)) values.push_back(value);
  }
  EXPECT_EQ(parse_json(one_line(values), "f.json"), values);
}

TEST(JsonParse, DamagedTextOnlyThrowsErrors) {
  const std::string valid = R"({"a": [1, -2.5e-3, true, null, NaN], "é\ud83d\ude00": {"x": "\n\u00e9", "y": []}})";
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    std::string text = valid.substr(0, i % 3 == 0 ? random() % valid.size() : valid.size());
    for (int flip = 0; flip < i % 4 && !text.empty(); ++flip) text[random() % text.size()] ^= 1 << random() % 8;
    try {
      dump_json(parse_json(text, "f.json"), 2);
    } catch (const Error&) {
    }
  }
}

TEST_F(JsonTest, ReadsAFile) {
  const auto path = folder_ / "config.json";
  replace_file(path, "{\"hidden_size\": 768}\n");
  EXPECT_EQ(get_int(read_json(path), "hidden_size", path.string()), 768);
  replace_file(path, "{\"hidden_size\": 768\n");
  EXPECT_EQ(error_of([&] { read_json(path); }), path.string() +
                                                    " is not valid JSON: line 2, column 1: \",\" or \"}\" was "
                                                    "expected, but the text ends here");
  EXPECT_TRUE(contains(error_of([&] { read_json(folder_ / "absent.json"); }), "absent.json: No such file"));
}

TEST(JsonGet, Values) {
  const Json json = parse_json(R"({"i": 12, "d": 0.5, "b": true, "s": "text", "n": null})", "c.json");
  EXPECT_EQ(get_int(json, "i", "c.json"), 12);
  EXPECT_EQ(get_double(json, "d", "c.json"), 0.5);
  EXPECT_EQ(get_double(json, "i", "c.json"), 12.0);
  EXPECT_TRUE(get_bool(json, "b", "c.json"));
  EXPECT_EQ(get_string(json, "s", "c.json"), "text");
  for (const char* absent : {"n", "other"}) {
    EXPECT_EQ(get_int_or(json, absent, 3, "c.json"), 3);
    EXPECT_EQ(get_double_or(json, absent, 0.25, "c.json"), 0.25);
    EXPECT_TRUE(get_bool_or(json, absent, true, "c.json"));
    EXPECT_EQ(get_string_or(json, absent, "gelu", "c.json"), "gelu");
  }
  EXPECT_EQ(get_int_or(json, "i", 3, "c.json"), 12);
  EXPECT_EQ(get_string_or(json, "s", "gelu", "c.json"), "text");
}

TEST(JsonGet, ErrorsNameFileKeyAndValue) {
  const Json json =
      parse_json(R"({"i": 12, "d": 0.5, "s": "text", "n": null, "a": [1], "u": 9223372036854775808})", "c.json");
  EXPECT_EQ(error_of([&] { get_int(json, "x", "c.json"); }), R"(c.json lacks the key "x")");
  EXPECT_EQ(error_of([&] { get_int(json, "s", "c.json"); }), R"(c.json: "s" must be an integer, found "text")");
  EXPECT_EQ(error_of([&] { get_int(json, "d", "c.json"); }), R"(c.json: "d" must be an integer, found 0.5)");
  EXPECT_EQ(error_of([&] { get_int(json, "n", "c.json"); }), R"(c.json: "n" must be an integer, found null)");
  EXPECT_EQ(error_of([&] { get_int(json, "u", "c.json"); }),
            R"(c.json: "u" must be an integer, found 9223372036854775808)");
  EXPECT_EQ(error_of([&] { get_double(json, "a", "c.json"); }), R"(c.json: "a" must be a number, found [1])");
  EXPECT_EQ(error_of([&] { get_bool(json, "i", "c.json"); }), R"(c.json: "i" must be true or false, found 12)");
  EXPECT_EQ(error_of([&] { get_string(json, "i", "c.json"); }), R"(c.json: "i" must be a string, found 12)");
  EXPECT_EQ(error_of([&] { get_int_or(json, "s", 1, "c.json"); }), R"(c.json: "s" must be an integer, found "text")");
  EXPECT_EQ(error_of([&] { get_int(json["a"], "x", "c.json"); }),
            R"(c.json must hold a JSON object with the key "x", found [1])");
}

}  // namespace
}  // namespace hearth::io
