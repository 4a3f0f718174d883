#include <fmt/format.h>

#include "hearth/io/json.h"
#include "hearth/tokenizer/tokenizer.h"
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
  const io::Json golden = io::read_json(folder / "cases.json");
  const auto tokenizer =
      tokenizer::load_vocabulary(root / golden.at("vocab").get<std::string>(), golden.at("lowercase").get<bool>());
  std::size_t wrong = 0;
  std::string first;
  for (const io::Json& expected : golden.at("cases")) {
    const auto text = expected.at("text").get<std::string>();
    const tokenizer::Encoding encoding = tokenizer->encode(text);
    const bool equal =
        io::Json(encoding.ids) == expected.at("ids") && json_of(encoding.offsets) == expected.at("offsets");
    if (!equal && wrong++ == 0) first = io::excerpt(text);
  }
  report.check_exact(
      fmt::format("tokenizer/{} ids and offsets of {} texts", folder.filename().string(), golden.at("cases").size()),
      wrong == 0, wrong == 0 ? "" : fmt::format("{} differ, the first is {}", wrong, first));
}

}  // namespace hearth::verify
