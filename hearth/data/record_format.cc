#include "hearth/data/record_format.h"

#include <fmt/ranges.h>

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "hearth/io/byte_source.h"

namespace hearth::data {
namespace {

struct Ending {
  std::string_view text;
  RecordFormat format;
};

constexpr std::array kEndings{Ending{".json", RecordFormat::json},       Ending{".jsonl", RecordFormat::json_lines},
                              Ending{".csv", RecordFormat::csv},         Ending{".tsv", RecordFormat::tsv},
                              Ending{".parquet", RecordFormat::parquet}, Ending{".txt", RecordFormat::text}};

}  // namespace

std::optional<RecordFormat> record_format_of(const std::filesystem::path& file) {
  const std::string ending = io::uncompressed_name(file).extension().string();
  const bool is_compressed = io::compression_of(file) != io::Compression::none;
  for (const Ending& known : kEndings)
    if (ending == known.text && !(is_compressed && known.format == RecordFormat::parquet)) return known.format;
  return std::nullopt;
}

bool has_fields(const std::filesystem::path& file) {
  const std::optional<RecordFormat> format = record_format_of(file);
  return format && *format != RecordFormat::text;
}

const std::string& record_endings() {
  static const std::string all = [] {
    std::vector<std::string_view> endings;
    for (const Ending& ending : kEndings)
      if (ending.format != RecordFormat::text) endings.push_back(ending.text);
    const std::span<const std::string_view> most = std::span(endings).first(endings.size() - 1);
    return fmt::format("{} or {}", fmt::join(most, ", "), endings.back());
  }();
  return all;
}

}  // namespace hearth::data
