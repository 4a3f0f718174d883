#include "hearth/data/json_column.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/data/json_kind.h"
#include "hearth/io/json.h"

namespace hearth::data {
namespace {

using io::Json;
using Kind = ColumnKind;

bool is_missing(const Json& value) {
  return value.is_null() || (value.is_number_float() && std::isnan(value.get<double>()));
}

bool is_empty_list(const Json& value) { return value.is_array() && value.empty(); }

bool is_list(Kind kind) { return kind == Kind::text_list || kind == Kind::integer_list || kind == Kind::number_list; }

class JsonColumn {
 public:
  JsonColumn(const std::string& file, std::string name, const std::vector<Json>& values)
      : file_(file), name_(std::move(name)), values_(values) {}

  Column build() {
    std::vector<bool> missing;
    for (const Json& value : values_) missing.push_back(is_missing(value));
    const Kind kind = kind_of_all();
    return {file_, std::move(name_), kind, converted(kind), std::move(missing)};
  }

 private:
  // Empty lists fit every kind of list.
  Kind kind_of_all() const {
    std::optional<Kind> all;
    std::size_t first = 0;
    for (std::size_t row = 0; row < values_.size(); ++row) {
      if (values_[row].is_null() || is_empty_list(values_[row])) continue;
      const Kind kind = kind_of(row);
      if (!all) first = row;
      const std::optional<Kind> both = joined(all.value_or(kind), kind);
      if (!both) mixed(row, kind, first, *all);
      all = both;
    }
    const auto empty = std::ranges::find_if(values_, is_empty_list);
    if (empty == values_.end()) return all.value_or(Kind::text);
    if (all && !is_list(*all) && *all != Kind::other)
      mixed(static_cast<std::size_t>(empty - values_.begin()), Kind::text_list, first, *all);
    return all.value_or(Kind::text_list);
  }

  Kind kind_of(std::size_t row) const {
    const Json& value = values_[row];
    if (!value.is_array()) return scalar_kind(value);
    std::optional<Kind> all;
    for (const Json& item : value) {
      check(!item.is_null(), "{}: record {}: column \"{}\" has a list with null in it; give every item a value", file_,
            row + 1, name_);
      const Kind kind = scalar_kind(item);
      const std::optional<Kind> both = joined(all.value_or(kind), kind);
      check(both.has_value(), "{}: record {}: column \"{}\" has a list that mixes {} and {}; write its items alike",
            file_, row + 1, name_, plural_of(all.value_or(kind)), plural_of(kind));
      all = both;
    }
    return list_of(*all);
  }

  [[noreturn]] void mixed(std::size_t row, Kind kind, std::size_t first_row, Kind first) const {
    fail("{}: column \"{}\" has values of mixed kinds: {} in record {}, but {} in record {}; write all of them alike",
         file_, name_, plural_of(first), first_row + 1, plural_of(kind), row + 1);
  }

  template <class T>
  std::vector<T> as(T absent) const {
    std::vector<T> all;
    for (const Json& value : values_) all.push_back(value.is_null() ? absent : value.get<T>());
    return all;
  }

  Column::Values converted(Kind kind) const {
    switch (kind) {
      case Kind::text:
        return as<std::string>("");
      case Kind::integer:
        return as<std::int64_t>(0);
      case Kind::boolean: {
        const std::vector<bool> flags = as<bool>(false);
        return std::vector<std::int64_t>(flags.begin(), flags.end());
      }
      case Kind::number:
        return as<double>(std::numeric_limits<double>::quiet_NaN());
      case Kind::text_list:
        return as<std::vector<std::string>>({});
      case Kind::integer_list:
        return as<std::vector<std::int64_t>>({});
      case Kind::number_list:
        return as<std::vector<double>>({});
      case Kind::other:
        break;
    }
    return {};
  }

  const std::string& file_;
  std::string name_;
  const std::vector<Json>& values_;
};

}  // namespace

Column json_column(const std::string& file, std::string name, const std::vector<Json>& values) {
  return JsonColumn(file, std::move(name), values).build();
}

}  // namespace hearth::data
