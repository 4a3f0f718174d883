#include "hearth/data/csv_column.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "hearth/io/json.h"

namespace hearth::data {
namespace {

std::string_view cell_of(const io::Json& cell) { return cell.get_ref<const std::string&>(); }

std::string_view trimmed(std::string_view cell) {
  constexpr std::string_view kSpaces = " \t\r\n\v\f";
  const std::size_t begin = cell.find_first_not_of(kSpaces);
  return begin == cell.npos ? "" : cell.substr(begin, cell.find_last_not_of(kSpaces) + 1 - begin);
}

std::string_view without_plus(std::string_view cell) {
  return cell.starts_with('+') && !cell.starts_with("+-") ? cell.substr(1) : cell;
}

bool is_whole(std::string_view cell) {
  cell = trimmed(cell);
  if (cell.starts_with('+') || cell.starts_with('-')) cell.remove_prefix(1);
  return !cell.empty() && std::ranges::all_of(cell, [](char c) { return c >= '0' && c <= '9'; });
}

template <class Number>
std::optional<Number> parsed(std::string_view cell) {
  cell = without_plus(trimmed(cell));
  Number value{};
  const char* const end = cell.data() + cell.size();
  const auto read = std::from_chars(cell.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return value;
}

std::optional<std::int64_t> integer_of(std::string_view cell) { return parsed<std::int64_t>(cell); }

// Spellings of NaN that are not missing values are no numbers either.
std::optional<double> number_of(std::string_view cell) {
  const std::optional<double> value = parsed<double>(cell);
  return value && *value == *value ? value : std::nullopt;
}

std::optional<std::int64_t> boolean_of(std::string_view cell) {
  const auto is = [&](std::string_view word) {
    return std::ranges::equal(cell, word, {}, [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  };
  if (is("true")) return 1;
  if (is("false")) return 0;
  return std::nullopt;
}

template <class T, class Read>
std::vector<T> values_of(const std::vector<io::Json>& cells, const std::vector<bool>& missing, T absent, Read read) {
  std::vector<T> values;
  for (std::size_t row = 0; row < cells.size(); ++row)
    values.push_back(missing[row] ? absent : read(cell_of(cells[row])).value_or(absent));
  return values;
}

Column::Values values_of(std::vector<io::Json>& cells, const std::vector<bool>& missing, ColumnKind kind) {
  if (kind == ColumnKind::integer) return values_of<std::int64_t>(cells, missing, 0, integer_of);
  if (kind == ColumnKind::boolean) return values_of<std::int64_t>(cells, missing, 0, boolean_of);
  if (kind == ColumnKind::number) return values_of(cells, missing, std::numeric_limits<double>::quiet_NaN(), number_of);
  std::vector<std::string> texts;
  for (io::Json& cell : cells) texts.push_back(std::move(cell.get_ref<std::string&>()));
  return texts;
}

}  // namespace

bool is_missing_cell(std::string_view cell) {
  constexpr std::array<std::string_view, 19> kMissing{
      "",     "#N/A", "#N/A N/A", "#NA",  "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
      "<NA>", "N/A",  "NA",       "NULL", "NaN",     "None",     "n/a",  "nan",  "null"};
  return std::ranges::find(kMissing, cell) != kMissing.end();
}

void CsvKind::add(std::string_view cell) {
  ++rows_;
  if (is_text_ || is_missing_cell(cell)) return;
  ++present_;
  whole_ += is_whole(cell);
  integers_ += integer_of(cell).has_value();
  numbers_ += number_of(cell).has_value();
  booleans_ += boolean_of(cell).has_value();
  is_text_ = numbers_ < present_ && booleans_ < present_;
}

// As pandas: whole numbers of which one is too large for 64 bits stay texts, and so do those beyond a double.
ColumnKind CsvKind::kind() const {
  if (is_text_ || (whole_ == present_ && integers_ < present_)) return ColumnKind::text;
  if (integers_ == present_ && present_ == rows_) return ColumnKind::integer;
  return numbers_ == present_ ? ColumnKind::number : ColumnKind::boolean;
}

Column csv_column(std::shared_ptr<const RecordPlaces> places, std::string name, ColumnKind kind,
                  std::vector<io::Json> cells) {
  std::vector<bool> missing;
  for (const io::Json& cell : cells) missing.push_back(is_missing_cell(cell_of(cell)));
  Column::Values values = values_of(cells, missing, kind);
  return {std::move(places), std::move(name), kind, std::move(values), std::move(missing)};
}

}  // namespace hearth::data
