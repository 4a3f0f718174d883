#include "hearth/apps/markdown_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace hearth::apps {

std::string markdown_table(const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return {};
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string table;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) table += fmt::format("| {:<{}} ", row[i], widths[i]);
    table += "|\n";
    if (&row != &rows[0]) continue;
    for (const std::size_t width : widths) table += fmt::format("|:{}:", std::string(width, '-'));
    table += "|\n";
  }
  return table;
}

}  // namespace hearth::apps
