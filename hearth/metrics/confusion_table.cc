#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "hearth/base/check.h"
#include "hearth/base/text_layout.h"
#include "hearth/metrics/confusion_matrix.h"

namespace hearth::metrics {
namespace {

using Texts = std::vector<std::string>;
constexpr std::size_t kLongestName = 40;

std::string gap(std::string_view text, std::size_t columns) {
  return std::string(columns - std::min(columns, columns_of(text)), ' ');
}
std::string left(const std::string& text, std::size_t columns) { return text + gap(text, columns); }
std::string right(const std::string& text, std::size_t columns) { return gap(text, columns) + text; }

std::size_t widest(std::span<const std::string> texts) {
  std::size_t columns = 0;
  for (const std::string& text : texts) columns = std::max(columns, columns_of(text));
  return columns;
}

Texts short_names(std::span<const std::string> names) {
  Texts result;
  for (const std::string& name : names) result.push_back(shortened(printable(name), kLongestName));
  return result;
}

// Rows of cells, the first row and the first column being heads; columns align and stand two spaces apart.
std::string grid(const std::vector<Texts>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Texts& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  std::string text;
  for (const Texts& row : rows) {
    text += left(row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i) text += "  " + right(row[i], widths[i]);
    text += '\n';
  }
  return text;
}

std::string matrix_grid(const ConfusionMatrix& matrix, const Texts& row_heads, const Texts& column_heads) {
  std::vector<Texts> rows{{"true \\ predicted"}};
  rows[0].insert(rows[0].end(), column_heads.begin(), column_heads.end());
  for (std::size_t truth = 0; truth < matrix.classes(); ++truth) {
    Texts cells{row_heads[truth]};
    for (const std::int64_t count : matrix.row(truth)) cells.push_back(fmt::format("{}", count));
    rows.push_back(std::move(cells));
  }
  return grid(rows);
}

bool fits(std::string_view table, std::size_t width) { return columns_of(table.substr(0, table.find('\n'))) <= width; }

std::string mistakes(const ConfusionMatrix& matrix, const Texts& names, std::size_t truth) {
  constexpr std::size_t kMost = 3;
  std::vector<std::size_t> others;
  for (std::size_t other = 0; other < matrix.classes(); ++other)
    if (other != truth && matrix.at(truth, other) > 0) others.push_back(other);
  std::stable_sort(others.begin(), others.end(),
                   [&](std::size_t a, std::size_t b) { return matrix.at(truth, a) > matrix.at(truth, b); });
  std::string text;
  std::int64_t rest = 0;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const std::int64_t count = matrix.at(truth, others[i]);
    if (i < kMost)
      text += fmt::format("{}{} {}", i == 0 ? "" : ", ", names[others[i]], count);
    else
      rest += count;
  }
  return rest == 0 ? text : text + fmt::format(", others {}", rest);
}

std::string list_of_mistakes(const ConfusionMatrix& matrix, const Texts& names) {
  Texts correct{"correct"};
  for (std::size_t truth = 0; truth < matrix.classes(); ++truth) {
    const auto row = matrix.row(truth);
    const std::int64_t total = std::accumulate(row.begin(), row.end(), std::int64_t{0});
    correct.push_back(fmt::format("{} of {}", row[truth], total));
  }
  const std::string head = "true";
  const std::size_t name_width = std::max(head.size(), widest(names)), correct_width = widest(correct);
  std::string text = left(head, name_width) + "  " + right(correct[0], correct_width) + "  predicted instead\n";
  for (std::size_t truth = 0; truth < matrix.classes(); ++truth) {
    const std::string line = left(names[truth], name_width) + "  " + right(correct[truth + 1], correct_width);
    const std::string wrong = mistakes(matrix, names, truth);
    text += line + (wrong.empty() ? "" : "  " + wrong) + '\n';
  }
  return text;
}

}  // namespace

std::string confusion_table(const ConfusionMatrix& matrix, std::span<const std::string> names, std::size_t width) {
  check(names.size() == matrix.classes(), "there are {} names for {} classes", names.size(), matrix.classes());
  const Texts shown = short_names(names);
  std::string named = matrix_grid(matrix, shown, shown);
  if (fits(named, width)) return named;
  Texts numbers, numbered_names;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    numbers.push_back(fmt::format("{}", i));
    numbered_names.push_back(fmt::format("{} {}", i, shown[i]));
  }
  std::string numbered = matrix_grid(matrix, numbered_names, numbers);
  return fits(numbered, width) ? numbered : list_of_mistakes(matrix, shown);
}

}  // namespace hearth::metrics
