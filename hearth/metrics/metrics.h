#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hearth/base/api.h"

namespace hearth {

// The value of a metric. JSON prints the integer 408 as 408, and the double 408.0 as 408.0.
class HEARTH_API Number {
 public:
  template <std::integral T>
  requires(!std::same_as<T, bool>) Number(T value) : value_(static_cast<std::int64_t>(value)) {}
  template <std::floating_point T>
  Number(T value) : value_(static_cast<double>(value)) {}

  bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  std::int64_t as_integer() const;  // an Error for a double
  double as_double() const;

  // An integer never equals a double, and NaN equals nothing.
  bool operator==(const Number&) const = default;

 private:
  std::variant<std::int64_t, double> value_;
};

// Named numbers in the order in which they were added.
class HEARTH_API Metrics {
 public:
  using Entry = std::pair<std::string, Number>;

  Metrics() = default;
  Metrics(std::initializer_list<Entry> entries);

  // A name that exists keeps its place.
  void set(std::string_view name, Number value);
  void update(const Metrics& other);
  bool erase(std::string_view name);  // false if there is no such name

  bool contains(std::string_view name) const { return find(name).has_value(); }
  double at(std::string_view name) const;  // an Error that lists the names, if there is no such name
  std::optional<double> find(std::string_view name) const;

  Metrics with_prefix(std::string_view prefix) const;
  Metrics with_suffix(std::string_view suffix) const;
  std::string to_string() const;  // as Python prints a dict: {'accuracy': 0.75, 'f1': 0.8}

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  bool operator==(const Metrics&) const = default;

 private:
  std::vector<Entry> entries_;
};

}  // namespace hearth
