#include "hearth/tokenizer/word_reader.h"

#include <array>
#include <utility>

#include "hearth/io/utf8.h"
#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {
namespace {

enum class ByteKind : std::uint8_t { word, space, punctuation, other };

struct ByteTable {
  std::array<ByteKind, 256> kind;
  std::array<char, 256> lowercase;
};

ByteTable make_byte_table() {
  ByteTable table;
  const std::uint32_t* traits = character_traits();
  for (std::size_t byte = 0; byte < 256; ++byte) {
    table.kind[byte] = byte >= 0x80 || (traits[byte] & kControl) ? ByteKind::other
                       : traits[byte] & kSpace                   ? ByteKind::space
                       : traits[byte] & kPunctuation             ? ByteKind::punctuation
                                                                 : ByteKind::word;
    table.lowercase[byte] = static_cast<char>('A' <= byte && byte <= 'Z' ? byte + ('a' - 'A') : byte);
  }
  return table;
}

const ByteTable& byte_table() {
  static const ByteTable table = make_byte_table();
  return table;
}

std::size_t index(char byte) { return static_cast<unsigned char>(byte); }

}  // namespace

NormalizedWords::NormalizedWords() : traits_(character_traits()) {}

void NormalizedWords::read(Characters characters) {
  characters_ = std::move(characters);
  at_ = 0;
}

bool NormalizedWords::next(Word& word) {
  while (at_ < characters_.size() && (traits_[characters_[at_].value] & kSpace)) ++at_;
  if (at_ == characters_.size()) return false;
  const std::size_t begin = at_;
  text_.clear();
  origins_.clear();
  do {
    const Character& character = characters_[at_];
    const std::uint32_t traits = traits_[character.value];
    if (at_ > begin && (traits & (kSpace | kPunctuation))) break;
    io::append_utf8(text_, character.value);
    origins_.resize(text_.size(), character.origin);
    ++at_;
    if (traits & kPunctuation) break;
  } while (at_ < characters_.size());
  word = {text_, static_cast<std::int32_t>(at_ - begin), origins_.front(), origins_.data()};
  return true;
}

WordReader::WordReader(const BertNormalizer& normalizer, std::string_view text, std::int32_t first)
    : normalizer_(normalizer), text_(text), place_(first) {}

bool WordReader::next(Word& word) {
  const ByteTable& bytes = byte_table();
  for (;;) {
    if (in_normalized_) {
      if (normalized_.next(word)) return true;
      in_normalized_ = false;
    }
    std::size_t begin = at_;
    while (begin < text_.size() && bytes.kind[index(text_[begin])] == ByteKind::space) ++begin;
    std::size_t end = begin;
    while (end < text_.size() && bytes.kind[index(text_[end])] == ByteKind::word) ++end;
    place_ += static_cast<std::int32_t>(begin - at_);
    at_ = begin;
    if (begin == text_.size()) return false;
    if (end < text_.size()) {
      const ByteKind kind = bytes.kind[index(text_[end])];
      if (kind == ByteKind::other) {
        read_until_space();
        continue;
      }
      if (kind == ByteKind::punctuation && end == begin) ++end;
    }
    const std::string_view source = text_.substr(begin, end - begin);
    const auto length = static_cast<std::int32_t>(source.size());
    word = {source, length, place_, nullptr};
    if (normalizer_.options().lowercase) {
      word_.resize(source.size());
      for (std::size_t i = 0; i < source.size(); ++i) word_[i] = bytes.lowercase[index(source[i])];
      word.text = word_;
    }
    at_ = end;
    place_ += length;
    return true;
  }
}

void WordReader::read_until_space() {
  const ByteTable& bytes = byte_table();
  std::size_t end = at_;
  while (end < text_.size() && bytes.kind[index(text_[end])] != ByteKind::space) ++end;
  const std::string_view part = text_.substr(at_, end - at_);
  Characters characters = decode_utf8(part, place_);
  place_ += static_cast<std::int32_t>(characters.size());
  normalizer_.normalize(characters);
  normalized_.read(std::move(characters));
  in_normalized_ = true;
  at_ = end;
}

}  // namespace hearth::tokenizer
