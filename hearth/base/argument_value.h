#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hearth {

// The variable that an option sets. An empty optional is an option without a value, written None.
using ArgumentTarget = std::variant<std::monostate, bool*, std::int64_t*, double*, std::string*, std::optional<bool>*,
                                    std::optional<std::int64_t>*, std::optional<double>*, std::optional<std::string>*,
                                    std::vector<std::string>*>;
using ArgumentValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::string>>;

ArgumentValue value_of(const ArgumentTarget& target);
std::string text_of(const ArgumentTarget& target);

// Converts the words to the target's type; `label` names the option in errors. Without words a bool becomes true.
void assign(const ArgumentTarget& target, const std::vector<std::string>& words, std::string_view label);

template <class T>
bool holds(const ArgumentTarget& target) {
  return std::holds_alternative<T*>(target) || std::holds_alternative<std::optional<T>*>(target);
}
inline bool holds_list(const ArgumentTarget& target) {
  return std::holds_alternative<std::vector<std::string>*>(target);
}

// yes, true, t, y, 1, no, false, f, n, 0 in any case.
std::optional<bool> bool_of(std::string_view word);
bool is_none(const std::vector<std::string>& words);

}  // namespace hearth
