#include "hearth/bench/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace hearth::bench {

std::string Table::to_string() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows_) {
    text += fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t i = 1; i < widths.size(); ++i) text += fmt::format("  {:>{}}", row[i], widths[i]);
    text += '\n';
  }
  return text;
}

}  // namespace hearth::bench
