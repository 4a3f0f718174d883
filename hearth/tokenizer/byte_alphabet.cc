#include "hearth/tokenizer/byte_alphabet.h"

#include <array>
#include <cstddef>

namespace hearth::tokenizer {
namespace {

constexpr std::size_t kBytes = 256, kAfterLast = 0x144;

struct Alphabet {
  std::array<char32_t, kBytes> characters{};
  std::array<int, kAfterLast> bytes{};
};

constexpr bool is_printable(std::size_t byte) {
  return (0x21 <= byte && byte <= 0x7E) || (0xA1 <= byte && byte <= 0xAC) || 0xAE <= byte;
}

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  alphabet.bytes.fill(-1);
  char32_t next = kBytes;
  for (std::size_t byte = 0; byte < kBytes; ++byte) {
    const char32_t character = is_printable(byte) ? static_cast<char32_t>(byte) : next++;
    alphabet.characters[byte] = character;
    alphabet.bytes[character] = static_cast<int>(byte);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

char32_t character_of_byte(char byte) { return kAlphabet.characters[static_cast<unsigned char>(byte)]; }

std::optional<char> byte_of_character(char32_t c) {
  if (c >= kAfterLast || kAlphabet.bytes[c] < 0) return std::nullopt;
  return static_cast<char>(kAlphabet.bytes[c]);
}

}  // namespace hearth::tokenizer
