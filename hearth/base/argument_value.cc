#include "hearth/base/argument_value.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "hearth/base/check.h"

namespace hearth {
namespace {

std::string lower(std::string_view word) {
  std::string result(word);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

template <class Number>
std::optional<Number> number_of(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

struct Assign {
  const std::vector<std::string>& words;
  std::string_view label;

  void operator()(std::monostate) const {}
  void operator()(bool* target) const {
    const auto value = words.empty() ? true : bool_of(only_word());
    check(value.has_value(), "{}: '{}' is neither true nor false", label, words.empty() ? "" : words[0]);
    *target = *value;
  }
  void operator()(std::int64_t* target) const {
    const auto value = number_of<std::int64_t>(only_word());
    check(value.has_value(), "{}: '{}' is not a whole number", label, words[0]);
    *target = *value;
  }
  void operator()(double* target) const {
    const auto value = number_of<double>(only_word());
    check(value.has_value() && !std::isnan(*value), "{}: '{}' is not a number", label, words[0]);
    *target = *value;
  }
  void operator()(std::string* target) const { *target = only_word(); }
  void operator()(const ChoiceTarget& target) const {
    const std::vector<std::string>& names = target.names();
    const std::string& word = only_word();
    check(std::ranges::find(names, word) != names.end(), "{}: '{}' is none of {}", label, word, fmt::join(names, ", "));
    target.assign(word);
  }
  void operator()(std::vector<std::string>* target) const {
    if (is_none(words)) return target->clear();
    check(!words.empty(), "{} needs at least one value", label);
    *target = words;
  }
  template <class T>
  void operator()(std::optional<T>* target) const {
    if (is_none(words)) return target->reset();
    T value{};
    (*this)(&value);
    *target = std::move(value);
  }

 private:
  const std::string& only_word() const {
    check(!words.empty(), "{} needs a value", label);
    check(words.size() == 1, "{} takes one value, not {}", label, words.size());
    return words[0];
  }
};

struct ValueOf {
  ArgumentValue operator()(std::monostate) const { return {}; }
  ArgumentValue operator()(const ChoiceTarget& target) const { return std::string(target.name()); }
  template <class T>
  ArgumentValue operator()(const T* target) const {
    return *target;
  }
  template <class T>
  ArgumentValue operator()(const std::optional<T>* target) const {
    return *target ? ArgumentValue(**target) : ArgumentValue();
  }
};

struct TextOf {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(const std::vector<std::string>& value) const {
    return fmt::format("{}", fmt::join(value, " "));
  }
  template <class T>
  std::string operator()(const T& value) const {
    return fmt::format("{}", value);
  }
};

}  // namespace

ArgumentValue value_of(const ArgumentTarget& target) { return std::visit(ValueOf{}, target); }
std::string text_of(const ArgumentTarget& target) { return std::visit(TextOf{}, value_of(target)); }

void assign(const ArgumentTarget& target, const std::vector<std::string>& words, std::string_view label) {
  std::visit(Assign{words, label}, target);
}

std::optional<bool> bool_of(std::string_view word) {
  static constexpr std::array<std::string_view, 5> yes{"yes", "true", "t", "y", "1"}, no{"no", "false", "f", "n", "0"};
  const std::string lowered = lower(word);
  if (std::ranges::find(yes, lowered) != yes.end()) return true;
  if (std::ranges::find(no, lowered) != no.end()) return false;
  return std::nullopt;
}

bool is_none(const std::vector<std::string>& words) { return words.size() == 1 && lower(words[0]) == "none"; }

}  // namespace hearth
