#include <fmt/format.h>

#include "hearth/io/json.h"
#include "hearth/tokenizer/tokenizer.h"
#include "hearth/verify/golden.h"
#include "hearth/verify/verify.h"

namespace hearth::verify {
namespace {

// [[begin, end], ...]
io::Json json_of(const std::vector<tokenizer::Offset>& offsets) {
  io::Json json = io::Json::array();
  for (const tokenizer::Offset& offset : offsets) json.push_back({offset.begin, offset.end});
  return json;
}

// How many of the cases differ, and the text of the first.
struct Differences {
  std::size_t count = 0;
  std::string first;

  void add(bool equal, const std::string& text) {
    if (!equal && count++ == 0) first = io::excerpt(text);
  }
  void report(const std::string& name, std::size_t cases, Report& report) const {
    report.check_exact(fmt::format("{} of {} texts", name, cases), count == 0,
                       count == 0 ? "" : fmt::format("{} differ, the first is {}", count, first));
  }
};

bool equals(const tokenizer::Encoding& encoding, const io::Json& expected, const std::string& file) {
  return io::Json(encoding.ids) == list_at(expected, "ids", file) &&
         json_of(encoding.offsets) == list_at(expected, "offsets", file);
}

}  // namespace

void verify_tokenizer(const std::filesystem::path& folder, const std::filesystem::path& root, Report& report) {
  const std::string file = (folder / "cases.json").string(), name = "tokenizer/" + folder.filename().string();
  const io::Json golden = io::read_json(file);
  const auto whole = tokenizer_of(golden, file);
  const auto tokenizer = whole ? tokenizer::load_tokenizer(whole->parent_path())
                               : tokenizer::load_vocabulary(root / io::get_string(golden, "vocab", file),
                                                            io::get_bool(golden, "lowercase", file));
  const io::Json& cases = list_at(golden, "cases", file);
  Differences tokens, decoded;
  for (const io::Json& expected : cases) {
    const std::string text = io::get_string(expected, "text", file);
    const tokenizer::Encoding encoding = tokenizer->encode(text);
    tokens.add(equals(encoding, expected, file), text);
    if (expected.contains("decoded"))
      decoded.add(tokenizer->decode(encoding.ids, true) == io::get_string(expected, "decoded", file), text);
  }
  tokens.report(name + " ids and offsets", cases.size(), report);
  if (!cases.empty() && cases.front().contains("decoded")) decoded.report(name + " decoded text", cases.size(), report);
  if (!golden.contains("pairs")) return;
  const io::Json& pairs = list_at(golden, "pairs", file);
  Differences differences;
  for (const io::Json& expected : pairs) {
    const std::string text = io::get_string(expected, "text", file);
    const tokenizer::Encoding encoding = tokenizer->encode(text, io::get_string(expected, "pair", file));
    differences.add(
        equals(encoding, expected, file) && io::Json(encoding.type_ids) == list_at(expected, "type_ids", file), text);
  }
  differences.report(name + " ids, type ids and offsets of pairs", pairs.size(), report);
}

}  // namespace hearth::verify
