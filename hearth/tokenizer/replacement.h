#pragma once

#include <cstddef>
#include <string>

#include "hearth/io/json_fwd.h"
#include "hearth/tokenizer/characters.h"

namespace hearth::tokenizer {

// The node Replace, which is a normalizer and a decoder. Its pattern is a string, or one of the regular expressions
// that published tokenizers have: a character or \s, repeated ("+" or "{2,}").
class Replacement {
 public:
  Replacement(const io::Json& node, const std::string& where);

  void apply(Characters& characters) const;
  // Whether a text without these characters, in UTF-8, stays as it is: the pattern's first byte; '\0' if not known.
  char first_byte() const;

 private:
  std::size_t match(std::span<const Character> text) const;  // its length; 0: none

  std::u32string literal_;  // matched as it stands, if there is no least count
  bool any_space_ = false;  // the repeated character is \s instead of literal_[0]
  std::size_t least_ = 0;   // how often the character must stand there, at least; 0: the pattern is a string
  std::u32string content_;
};

}  // namespace hearth::tokenizer
