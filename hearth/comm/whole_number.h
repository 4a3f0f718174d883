#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace hearth::comm {

// Nothing where the text is anything else than one number that fits.
template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace hearth::comm
