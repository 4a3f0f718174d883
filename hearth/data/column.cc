#include "hearth/data/column.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/json.h"

namespace hearth::data {

std::string_view plural_of(ColumnKind kind) {
  constexpr std::array<std::string_view, 8> kPlurals{
      "texts",          "whole numbers",          "numbers",          "true or false",
      "lists of texts", "lists of whole numbers", "lists of numbers", "objects or nested lists"};
  return kPlurals[static_cast<std::size_t>(kind)];
}

Column::Column(std::shared_ptr<const RecordPlaces> places, std::string name, ColumnKind kind, Values values,
               std::vector<bool> missing)
    : places_(std::move(places)),
      name_(std::move(name)),
      kind_(kind),
      values_(std::move(values)),
      missing_(std::move(missing)) {}

bool Column::has_missing() const { return std::ranges::find(missing_, true) != missing_.end(); }

const std::string& Column::text(std::size_t row) const { return get<std::string>(row, ColumnKind::text); }

std::int64_t Column::integer(std::size_t row) const {
  const std::int64_t value = get<std::int64_t>(row, ColumnKind::integer);
  check_present(row);
  return value;
}

double Column::number(std::size_t row) const {
  if (kind_ == ColumnKind::number) return get<double>(row, ColumnKind::number);
  const auto value = static_cast<double>(get<std::int64_t>(row, ColumnKind::number));
  return is_missing(row) ? std::numeric_limits<double>::quiet_NaN() : value;
}

const std::vector<std::string>& Column::texts(std::size_t row) const {
  return get<std::vector<std::string>>(row, ColumnKind::text_list);
}

const std::vector<std::int64_t>& Column::integers(std::size_t row) const {
  return get<std::vector<std::int64_t>>(row, ColumnKind::integer_list);
}

std::vector<double> Column::numbers(std::size_t row) const {
  if (kind_ == ColumnKind::number_list) return get<std::vector<double>>(row, kind_);
  const auto& whole = get<std::vector<std::int64_t>>(row, ColumnKind::number_list);
  return {whole.begin(), whole.end()};
}

std::string Column::written(std::size_t row) const {
  if (kind_ != ColumnKind::text) check_present(row);
  if (kind_ == ColumnKind::boolean) return integer(row) != 0 ? "True" : "False";
  if (kind_ == ColumnKind::integer) return fmt::format("{}", integer(row));
  if (kind_ != ColumnKind::number) return text(row);
  const double value = number(row);
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return io::dump_json(io::Json(value), io::kOneLine);
}

void Column::keep_first(std::size_t rows) {
  if (rows >= size()) return;
  missing_.resize(rows);
  std::visit(
      [&](auto& values) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(values)>, std::monostate>) values.resize(rows);
      },
      values_);
}

template <class T>
const T& Column::get(std::size_t row, ColumnKind wanted) const {
  const auto* values = std::get_if<std::vector<T>>(&values_);
  if (values == nullptr) wrong_kind(wanted);
  return (*values)[row];
}

void Column::check_present(std::size_t row) const {
  check(!is_missing(row), "{}: column \"{}\" has no value; fill it in, or leave the record out", text_of(place(row)),
        name_);
}

void Column::wrong_kind(ColumnKind wanted) const {
  fail("{}: column \"{}\" holds {}, but {} are needed; correct the file, or choose another column", file(), name_,
       plural_of(kind_), plural_of(wanted));
}

}  // namespace hearth::data
