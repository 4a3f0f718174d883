#include "hearth/data/json_column.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
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

bool is_list(Kind kind) { return kind == Kind::text_list || kind == Kind::integer_list || kind == Kind::number_list; }

std::string item_place(const RecordPlace& place, const std::string& name) {
  return fmt::format("{}: column \"{}\"", text_of(place), name);
}

class Converter {
 public:
  Converter(const RecordPlaces& places, const std::string& name, std::vector<Json>& values)
      : places_(places), name_(name), values_(values) {}

  Column::Values converted(Kind kind) {
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

 private:
  template <class T>
  std::vector<T> as(const T& absent) {
    std::vector<T> all;
    all.reserve(values_.size());
    for (row_ = 0; row_ < values_.size(); ++row_)
      all.push_back(values_[row_].is_null() ? absent : read<T>(values_[row_]));
    return all;
  }

  template <class T>
  T read(Json& value) const {
    if constexpr (std::is_same_v<T, std::string>) {
      check_type(value.is_string());
      return std::move(value.get_ref<std::string&>());
    } else if constexpr (std::is_same_v<T, bool>) {
      check_type(value.is_boolean());
      return value.get<bool>();
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      check_type(value.is_number_integer());
      return value.get<std::int64_t>();
    } else if constexpr (std::is_same_v<T, double>) {
      check_type(value.is_number());
      return value.get<double>();
    } else {
      check_type(value.is_array());
      return read_items<T>(value);
    }
  }
  template <class List>
  List read_items(Json& list) const {
    List items;
    items.reserve(list.size());
    for (Json& item : list) {
      if (item.is_null()) null_in_list();
      items.push_back(read<typename List::value_type>(item));
    }
    return items;
  }

  RecordPlace place() const { return places_.of(row_); }
  void check_type(bool fits) const {
    check(fits, "{} has a value of another type than before: the file was changed while it was read",
          item_place(place(), name_));
  }
  [[noreturn]] void null_in_list() const {
    fail("{} has a list with null in it; give every item a value", item_place(place(), name_));
  }

  const RecordPlaces& places_;
  const std::string& name_;
  std::vector<Json>& values_;
  std::size_t row_ = 0;
};

}  // namespace

void JsonKind::add(const Json& value, const RecordSource& source) {
  if (value.is_null()) return;
  if (value.is_array() && value.empty()) {
    if (empty_list_.number == 0) empty_list_ = source.place();
    return;
  }
  const Kind kind = kind_of(value, source);
  if (!all_) {
    all_ = kind;
    first_ = source.place();
  }
  const std::optional<Kind> both = joined(*all_, kind);
  if (!both) mixed(*all_, first_, kind, source.place());
  all_ = both;
}

Kind JsonKind::kind() const {
  if (empty_list_.number == 0) return all_.value_or(Kind::text);
  if (all_ && !is_list(*all_) && *all_ != Kind::other) mixed(*all_, first_, Kind::text_list, empty_list_);
  return all_.value_or(Kind::text_list);
}

Kind JsonKind::kind_of(const Json& value, const RecordSource& source) const {
  if (!value.is_array()) return scalar_kind(value);
  std::optional<Kind> all;
  for (const Json& item : value) {
    check(!item.is_null(), "{} has a list with null in it; give every item a value", item_place(source.place(), name_));
    const Kind kind = scalar_kind(item);
    const std::optional<Kind> both = joined(all.value_or(kind), kind);
    check(both.has_value(), "{} has a list that mixes {} and {}; write its items alike",
          item_place(source.place(), name_), plural_of(all.value_or(kind)), plural_of(kind));
    all = both;
  }
  return list_of(*all);
}

void JsonKind::mixed(Kind kind, const RecordPlace& place, Kind other, const RecordPlace& at) const {
  const bool same_file = place.file == at.file;
  fail("{}: column \"{}\" has values of mixed kinds: {} in record {}{}, but {} in record {}; write all of them alike",
       at.file, name_, plural_of(kind), place.number, same_file ? "" : " of " + place.file, plural_of(other),
       at.number);
}

Column json_column(std::shared_ptr<const RecordPlaces> places, std::string name, Kind kind, std::vector<Json> values) {
  std::vector<bool> missing;
  for (const Json& value : values) missing.push_back(is_missing(value));
  Column::Values converted = Converter(*places, name, values).converted(kind);
  return {std::move(places), std::move(name), kind, std::move(converted), std::move(missing)};
}

}  // namespace hearth::data
