#include "hearth/data/record_format.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace hearth::data {
namespace {

struct Ending {
  std::string_view text;
  RecordFormat format;
};

constexpr std::array kEndings{Ending{".json", RecordFormat::json}, Ending{".jsonl", RecordFormat::json_lines},
                              Ending{".csv", RecordFormat::csv}, Ending{".tsv", RecordFormat::tsv}};

}  // namespace

std::optional<RecordFormat> record_format_of(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  for (const Ending& ending : kEndings)
    if (extension == ending.text) return ending.format;
  return std::nullopt;
}

const std::string& record_endings() {
  static const std::string all = [] {
    std::string list;
    for (const Ending& ending : kEndings)
      list += fmt::format("{}{}",
                          &ending == &kEndings.front()  ? ""
                          : &ending == &kEndings.back() ? " or "
                                                        : ", ",
                          ending.text);
    return list;
  }();
  return all;
}

}  // namespace hearth::data
