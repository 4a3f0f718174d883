#pragma once

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

namespace hearth {

// The number that the text is; nothing where it is anything else, does not fit or lies below `least`.
template <class Number>
std::optional<Number> whole_number(std::string_view text, Number least = std::numeric_limits<Number>::min()) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, value);
  return failure == std::errc() && stopped == end && value >= least ? std::optional(value) : std::nullopt;
}

}  // namespace hearth
