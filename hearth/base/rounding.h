#pragma once

#include <concepts>
#include <type_traits>

namespace hearth {

// For values that are not negative.
template <std::integral Number>
constexpr Number divide_up(Number value, std::type_identity_t<Number> by) {
  return (value + by - 1) / by;
}

// The smallest multiple of `unit` that is not below the value.
template <std::integral Number>
constexpr Number round_up(Number value, std::type_identity_t<Number> unit) {
  return divide_up(value, unit) * unit;
}

}  // namespace hearth
