#include "hearth/metrics/metrics.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hearth/base/check.h"

namespace hearth {
namespace {

auto has_name(std::string_view name) {
  return [name](const Metrics::Entry& entry) { return entry.first == name; };
}

// As Python writes it: 1 is an integer, 1.0 a float.
std::string written(const Number& value) {
  if (value.is_integer()) return fmt::format("{}", value.as_integer());
  const std::string digits = fmt::format("{}", value.as_double());
  return digits.find_first_not_of("-0123456789") == digits.npos ? digits + ".0" : digits;
}

}  // namespace

std::int64_t Number::as_integer() const {
  check(is_integer(), "{} is not an integer", as_double());
  return std::get<std::int64_t>(value_);
}

double Number::as_double() const {
  return std::visit([](auto value) { return static_cast<double>(value); }, value_);
}

Metrics::Metrics(std::initializer_list<Entry> entries) {
  for (const auto& [name, value] : entries) set(name, value);
}

void Metrics::set(std::string_view name, Number value) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), has_name(name));
  if (found == entries_.end())
    entries_.emplace_back(name, value);
  else
    found->second = value;
}

void Metrics::update(const Metrics& other) {
  if (&other == this) return;
  for (const auto& [name, value] : other) set(name, value);
}

bool Metrics::erase(std::string_view name) { return std::erase_if(entries_, has_name(name)) > 0; }

double Metrics::at(std::string_view name) const {
  const std::optional<double> value = find(name);
  if (value) return *value;
  std::vector<std::string_view> names;
  for (const auto& entry : entries_) names.push_back(entry.first);
  fail("there is no metric {}; the metrics are [{}]", name, fmt::join(names, ", "));
}

std::optional<double> Metrics::find(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), has_name(name));
  if (found == entries_.end()) return std::nullopt;
  return found->second.as_double();
}

Metrics Metrics::with_prefix(std::string_view prefix) const {
  Metrics result = *this;
  for (auto& entry : result.entries_) entry.first.insert(0, prefix);
  return result;
}

Metrics Metrics::with_suffix(std::string_view suffix) const {
  Metrics result = *this;
  for (auto& entry : result.entries_) entry.first += suffix;
  return result;
}

std::string Metrics::to_string() const {
  std::vector<std::string> shown;
  for (const auto& [name, value] : entries_) shown.push_back(fmt::format("'{}': {}", name, written(value)));
  return fmt::format("{{{}}}", fmt::join(shown, ", "));
}

}  // namespace hearth
