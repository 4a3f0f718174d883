#include "hearth/tokenizer/library_number.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace hearth::tokenizer {
namespace {

double power_of_ten(int exponent) { return std::strtod(("1e" + std::to_string(exponent)).c_str(), nullptr); }

}  // namespace

double library_number(double value) {
  std::array<char, 40> text;  // d.ddde-xx, with as few digits as give the value: so programs write numbers
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), std::abs(value), std::chars_format::scientific);
  const std::string_view spelled(text.data(), static_cast<std::size_t>(end - text.data()));
  const std::size_t e = spelled.find('e');
  int exponent = std::atoi(std::string(spelled.substr(e + 1)).c_str());
  std::uint64_t digits = 0;
  for (const char c : spelled.substr(0, e))
    if (c != '.') digits = digits * 10 + static_cast<std::uint64_t>(c - '0');
  if (e > 1) exponent -= static_cast<int>(e) - 2;
  const auto whole = static_cast<double>(digits);
  const double read = exponent < 0 ? whole / power_of_ten(-exponent) : whole * power_of_ten(exponent);
  return value < 0 ? -read : read;
}

}  // namespace hearth::tokenizer
