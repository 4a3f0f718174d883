#pragma once

#include <optional>

namespace hearth::tokenizer {

// The alphabet of byte-level BPE: a printable character for each byte. A byte that is printable in Latin-1 is itself;
// the others are U+0100 and up. A space is U+0120.
char32_t character_of_byte(char byte);
std::optional<char> byte_of_character(char32_t c);

}  // namespace hearth::tokenizer
