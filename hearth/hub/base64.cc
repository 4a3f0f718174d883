#include "hearth/hub/base64.h"

#include <algorithm>
#include <cstdint>

namespace hearth::hub {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(3, bytes.size()))) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < bytes.size() ? static_cast<std::uint8_t>(bytes[i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) text += i <= bytes.size() ? kDigits[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

}  // namespace hearth::hub
