#include "hearth/io/pickle.h"

#include "tests/support.h"

namespace hearth::io {
namespace {

PickleValue read(std::string_view body) {
  const PickleRules rules{
      .check_global = [](const std::string& global) { check(global == "a.b", "the global {}", global); },
      .make = [](const std::string&, const auto& arguments) { return PickleValue::Tuple{arguments}; },
      .find_persistent = [](const PickleValue& id) { return id; }};
  return read_pickle("\x80\x02" + std::string(body), "file", rules).value;
}

std::string error_with(std::string_view body) {
  return error_of([&] { read(body); });
}

TEST(Pickle, ReadsNumbers) {
  EXPECT_EQ(*read("K\xff.").get_if<std::int64_t>(), 255);
  EXPECT_EQ(*read(std::string_view("M\x01\x02.", 4)).get_if<std::int64_t>(), 513);
  EXPECT_EQ(*read("J\xfe\xff\xff\xff.").get_if<std::int64_t>(), -2);
  EXPECT_EQ(*read(std::string_view("\x8a\x00.", 3)).get_if<std::int64_t>(), 0);
  EXPECT_EQ(*read("\x8a\x01\xff.").get_if<std::int64_t>(), -1);
  EXPECT_EQ(*read(std::string_view("\x8a\x05\x00\x00\x00\x80\x00.", 8)).get_if<std::int64_t>(), std::int64_t{1} << 31);
  EXPECT_EQ(*read(std::string_view("G\x3f\xf8\x00\x00\x00\x00\x00\x00.", 10)).get_if<double>(), 1.5);
  EXPECT_EQ(error_with("\x8a\x09"
                       "123456789."),
            "file: an integer of the pickle, before byte 13, has more than 64 bits");
}

TEST(Pickle, SharesWhatTheMemoHolds) {
  const PickleValue value = read("](X\3" + std::string(3, '\0') + "abcq\1h\1e.");
  const auto& items = value.get_if<PickleValue::List>()->items;
  EXPECT_EQ(*items[0].get_if<std::string>(), "abc");
  EXPECT_EQ(items[0].get_if<std::string>(), items[1].get_if<std::string>());
}

TEST(Pickle, RefusesOpcodesByName) {
  EXPECT_EQ(error_with("(cos\nsystem\no."), "the global os.system");
  EXPECT_TRUE(contains(error_with("(ios\nsystem\n."), "file: the pickle has the opcode INST at byte 3"));
  EXPECT_TRUE(contains(error_with("\x93."), "the opcode STACK_GLOBAL at byte 2"));
  EXPECT_TRUE(contains(error_with("ca\nb\n)\x81."), "the opcode NEWOBJ"));
  EXPECT_TRUE(contains(error_with("\xff."), "the opcode 0xff"));
}

TEST(Pickle, RefusesWhatNoProgramWrites) {
  for (const char* body : {".", "K\1K\2.", "t.", "(K\1", "K\1a.", "]K\1s.", "}(K\1u.", "h\1.", "q\1.", "R.", "K\1K\2R.",
                           "ca\nb\nK\1R.", "K\1}b.", "(\x85.", "K\1(a.", "Q.", "}]."})
    EXPECT_TRUE(contains(error_with(body), "file: the pickle is")) << body;
  EXPECT_TRUE(contains(error_with("X\xff\xff\xff\xff."), "file: the pickle is cut off"));
  EXPECT_TRUE(contains(error_with("cos"), "file: the pickle is cut off"));
}

// Freeing values within values takes stack, and a value within itself would never be freed.
TEST(Pickle, RefusesEndlessDepth) {
  EXPECT_EQ(error_with(std::string(100, ']') + std::string(99, 'a') + "."), "");
  EXPECT_TRUE(contains(error_with(std::string(102, ']') + std::string(101, 'a') + "."), "more than 100 levels"));
  EXPECT_TRUE(contains(error_with(")" + std::string(101, '\x85') + "."), "more than 100 levels"));
  std::string doubling = ")q\1";
  for (int i = 0; i < 40; ++i) doubling += "h\1\x86q\1";
  EXPECT_TRUE(contains(error_with(doubling + "."), "more than 10000000 values"));
  EXPECT_TRUE(contains(error_with("]q\1h\1a."), "is damaged"));
  EXPECT_TRUE(contains(error_with("]q\1\x85q\2"
                                  "0."),
                       "POP"));
  EXPECT_TRUE(contains(error_with("]q\1\x85q\2h\1h\2a."), "is damaged"));
}

}  // namespace
}  // namespace hearth::io
