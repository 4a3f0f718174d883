// A map begins with the size of its trie in bytes, four bytes, little endian. The trie is a double array of
// Darts-clone: units of four bytes. The offset of a unit leads to where its children are, a child's place is that
// offset XOR its label, and a unit with a leaf has its value at label 0.

#include "hearth/tokenizer/character_map.h"

#include <bit>
#include <cstring>

#include "hearth/base/check.h"
#include "hearth/io/utf8.h"
#include "hearth/tokenizer/graphemes.h"
#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {
namespace {

constexpr std::size_t kLongestCluster = 5;  // bytes

bool has_leaf(std::uint32_t unit) { return (unit >> 8 & 1) == 1; }
std::uint32_t value_of(std::uint32_t unit) { return unit & 0x7FFFFFFFu; }
std::uint32_t label_of(std::uint32_t unit) { return unit & 0x800000FFu; }
std::uint32_t offset_of(std::uint32_t unit) { return unit >> 10 << ((unit & 0x200u) >> 6); }

// Appends `text` in place of `replaced` characters. As in the library, removed characters count for the last one
// before them, and are not counted at the beginning of a text.
void append(std::vector<Change>& changes, std::string_view text, int replaced) {
  const std::size_t before = changes.size();
  for (std::size_t at = 0; at < text.size();) changes.push_back({read_code_point(text, at), 0});
  const int added = static_cast<int>(changes.size() - before) - replaced;
  for (int i = 0; i < added; ++i) changes[changes.size() - 1 - static_cast<std::size_t>(i)].change = 1;
  if (added < 0 && !changes.empty()) changes.back().change += added;
}

}  // namespace

CharacterMap::CharacterMap(std::string_view bytes, const std::string& where) {
  static_assert(std::endian::native == std::endian::little);
  std::uint32_t size = 0;
  const auto check_whole = [&](bool whole) { check(whole, "{}: the precompiled map of characters is damaged", where); };
  check_whole(bytes.size() >= sizeof(size));
  std::memcpy(&size, bytes.data(), sizeof(size));
  bytes.remove_prefix(sizeof(size));
  check_whole(size <= bytes.size() && size % sizeof(std::uint32_t) == 0 && size > 0);
  units_.resize(size / sizeof(std::uint32_t));
  std::memcpy(units_.data(), bytes.data(), size);
  texts_ = bytes.substr(size);
  check_whole(io::is_utf8(texts_) && (texts_.empty() || texts_.back() == '\0'));
  for (std::size_t c = 0; c < is_changed_.size(); ++c) {
    const char byte = static_cast<char>(c);
    is_changed_[c] = replacement({&byte, 1}) != nullptr;
  }
}

const char* CharacterMap::replacement(std::string_view text) const {
  std::size_t node = offset_of(units_[0]);
  for (const char byte : text) {
    const auto label = static_cast<unsigned char>(byte);
    if (label == 0) break;
    node ^= label;
    if (node >= units_.size() || label_of(units_[node]) != label) return nullptr;
    const std::uint32_t unit = units_[node];
    node ^= offset_of(unit);
    if (node >= units_.size()) return nullptr;
    if (has_leaf(unit)) {
      const std::uint32_t place = value_of(units_[node]);
      return place < texts_.size() ? texts_.data() + place : nullptr;
    }
  }
  return nullptr;
}

bool CharacterMap::changes(std::string_view text) const {
  for (const char byte : text) {
    const auto c = static_cast<unsigned char>(byte);
    if (c >= is_changed_.size() || is_changed_[c]) return true;
  }
  return false;
}

// A grapheme cluster of at most five bytes is looked up as a whole, and replaced as a whole if its beginning is in the
// map; other clusters are looked up character by character.
void CharacterMap::normalize(Characters& characters) const {
  std::vector<Change> changes;
  changes.reserve(characters.size());
  bool modified = false;
  std::string bytes;
  const auto replace = [&](std::size_t begin, std::size_t end) {
    bytes.clear();
    for (std::size_t i = begin; i < end; ++i) io::append_utf8(bytes, characters[i].value);
    if (bytes.size() > kLongestCluster) return false;
    const char* text = replacement(bytes);
    if (!text) return false;
    append(changes, text, static_cast<int>(end - begin));
    return modified = true;
  };
  for (std::size_t begin = 0, end = 0; begin < characters.size(); begin = end) {
    end = cluster_end(characters, begin);
    if (replace(begin, end)) continue;
    for (std::size_t i = begin; i < end; ++i)
      if (!replace(i, i + 1)) changes.push_back({characters[i].value, 0});
  }
  if (modified) transform(characters, changes);
}

}  // namespace hearth::tokenizer
