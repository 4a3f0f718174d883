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

}  // namespace

void verify_tokenizer(const std::filesystem::path& folder, const std::filesystem::path& root, Report& report) {
  const std::string file = (folder / "cases.json").string();
  const io::Json golden = io::read_json(file);
  const auto whole = tokenizer_of(golden, file);
  const auto tokenizer = whole ? tokenizer::load_tokenizer(whole->parent_path())
                               : tokenizer::load_vocabulary(root / io::get_string(golden, "vocab", file),
                                                            io::get_bool(golden, "lowercase", file));
  const io::Json& cases = list_at(golden, "cases", file);
  std::size_t wrong = 0;
  std::string first;
  for (const io::Json& expected : cases) {
    const std::string text = io::get_string(expected, "text", file);
    const tokenizer::Encoding encoding = tokenizer->encode(text);
    const bool equal = io::Json(encoding.ids) == list_at(expected, "ids", file) &&
                       json_of(encoding.offsets) == list_at(expected, "offsets", file);
    if (!equal && wrong++ == 0) first = io::excerpt(text);
  }
  report.check_exact(fmt::format("tokenizer/{} ids and offsets of {} texts", folder.filename().string(), cases.size()),
                     wrong == 0, wrong == 0 ? "" : fmt::format("{} differ, the first is {}", wrong, first));
}

}  // namespace hearth::verify
