#include "hearth/tokenizer/characters.h"

#include <algorithm>

#include "hearth/io/utf8.h"
#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {

Characters decode_utf8(std::string_view text, std::int32_t first) {
  Characters characters;
  characters.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    characters.push_back({byte < 0x80 ? text[at++] : read_code_point(text, at), first++});
  }
  return characters;
}

void encode_utf8(std::span<const Character> characters, std::string& text, std::vector<std::int32_t>& origins) {
  text.reserve(text.size() + characters.size());
  origins.reserve(origins.size() + characters.size());
  for (const auto& [value, origin] : characters) {
    if (value < 0x80)
      text += static_cast<char>(value);
    else
      io::append_utf8(text, value);
    origins.resize(text.size(), origin);
  }
}

void transform(Characters& characters, std::span<const Change> changes) {
  Characters result;
  result.reserve(changes.size());
  std::size_t next = 0;  // the first character of the old text that nothing stands for yet
  const auto origin_at = [&](std::size_t i) {
    return characters.empty() ? 0 : characters[std::min(i, characters.size() - 1)].origin;
  };
  for (const auto& [value, change] : changes) {
    if (change > 0) {
      result.push_back({value, origin_at(next == 0 ? 0 : next - 1)});
    } else {
      result.push_back({value, origin_at(next)});
      next += 1 + static_cast<std::size_t>(-change);
    }
  }
  characters = std::move(result);
}

}  // namespace hearth::tokenizer
