#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

namespace hearth {

// An enum whose values count from 0 and have the names that users type. The names stand beside the enum, once:
//   enum class Color { red, green };
//   constexpr std::array<std::string_view, 2> names_of(Color) { return {"red", "green"}; }
template <class Enum>
concept NamedEnum = std::is_enum_v<Enum> && requires(Enum value) {
  { names_of(value)[0] } -> std::convertible_to<std::string_view>;
};

template <NamedEnum Enum>
constexpr std::string_view name_of(Enum value) {
  return names_of(value)[static_cast<std::size_t>(value)];
}

template <NamedEnum Enum>
constexpr std::optional<Enum> value_named(std::string_view name) {
  constexpr auto kNames = names_of(Enum{});
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Enum>(found - kNames.begin());
}

}  // namespace hearth
