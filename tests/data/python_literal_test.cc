#include "hearth/data/python_literal.h"

#include "hearth/io/json.h"
#include "tests/support.h"

namespace hearth::data {
namespace {

TEST(PythonLiteral, IsReadAsJson) {
  const auto read = [](std::string_view text) { return io::dump_json(parse_python_literal(text, "it"), io::kOneLine); };
  EXPECT_EQ(read(R"({'text': array(['it\'s', "d'or"], dtype=object), 'answer_start': array([5, -2])})"),
            R"({"text": ["it's", "d'or"], "answer_start": [5, -2]})");
  EXPECT_EQ(read(R"( [None, True, False, (1, 2.5,), {}, 'a\n\x41\u00e9\U0001F600\\', ] )"),
            R"([null, true, false, [1, 2.5], {}, "a\nA\u00e9\ud83d\ude00\\"])");
  EXPECT_EQ(read(R"({"a": [true, null, "\ud83d\ude00"]})"), R"({"a": [true, null, "\ud83d\ude00"]})");
  for (const char* wrong :
       {"", "{'a'}", "{'a': }", "['a'", "'a", "'\\", "[1 2]", "x", "1 2", "'\\q'", "'\\ud800'", "{1: 2}"}) {
    EXPECT_TRUE(contains(error_of([&] { read(wrong); }), "it is neither JSON nor a Python literal")) << wrong;
  }
  EXPECT_THROW(read(std::string(100'000, '[')), Error);
}

}  // namespace
}  // namespace hearth::data
