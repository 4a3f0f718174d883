#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/base/enum_names.h"

namespace hearth {

// A variable of some NamedEnum, set by the names of its values.
class ChoiceTarget {
 public:
  template <NamedEnum Enum>
  ChoiceTarget(Enum* variable, std::initializer_list<Enum> allowed)
      : variable_(variable),
        name_([](const void* from) { return name_of(*static_cast<const Enum*>(from)); }),
        assign_([](void* to, std::string_view name) { *static_cast<Enum*>(to) = *value_named<Enum>(name); }) {
    for (const Enum value : allowed) names_.emplace_back(name_of(value));
    if (names_.empty())
      for (const std::string_view name : names_of(Enum{})) names_.emplace_back(name);
  }

  const std::vector<std::string>& names() const { return names_; }  // that may be assigned
  std::string_view name() const { return name_(variable_); }
  void assign(std::string_view name) const { assign_(variable_, name); }

 private:
  void* variable_;
  std::string_view (*name_)(const void*);
  void (*assign_)(void*, std::string_view);
  std::vector<std::string> names_;
};

// The target of an option that takes one of the enum's names: any of them, or only the allowed ones.
template <NamedEnum Enum>
ChoiceTarget choice(Enum* variable, std::initializer_list<Enum> allowed = {}) {
  return {variable, allowed};
}

// The variable that an option sets. An empty optional is an option without a value, written None.
using ArgumentTarget = std::variant<std::monostate, bool*, std::int64_t*, double*, std::string*, std::optional<bool>*,
                                    std::optional<std::int64_t>*, std::optional<double>*, std::optional<std::string>*,
                                    std::vector<std::string>*, ChoiceTarget>;
using ArgumentValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::string>>;

HEARTH_API ArgumentValue value_of(const ArgumentTarget& target);
HEARTH_API std::string text_of(const ArgumentTarget& target);

// Converts the words to the target's type; `label` names the option in errors. Without words a bool becomes true.
HEARTH_API void assign(const ArgumentTarget& target, const std::vector<std::string>& words, std::string_view label);

template <class T>
bool holds(const ArgumentTarget& target) {
  return std::holds_alternative<T*>(target) || std::holds_alternative<std::optional<T>*>(target);
}
inline bool holds_list(const ArgumentTarget& target) {
  return std::holds_alternative<std::vector<std::string>*>(target);
}

// yes, true, t, y, 1, no, false, f, n, 0 in any case.
HEARTH_API std::optional<bool> bool_of(std::string_view word);
HEARTH_API bool is_none(const std::vector<std::string>& words);

}  // namespace hearth
