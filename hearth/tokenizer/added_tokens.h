#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/tokenizer/piece_trie.h"

namespace hearth::tokenizer {

// A token that is looked for in the text before the text is split into words: special tokens such as [MASK], and tokens
// that users have added.
struct AddedToken {
  std::int32_t id = -1;
  std::string content;
  bool single_word = false;  // found only where no letter stands beside it
  bool lstrip = false;       // includes the spaces before it
  bool rstrip = false;       // includes the spaces after it
  bool normalized = false;   // looked for in the normalised text instead
  bool special = true;       // decode can leave it out
};

// Finds added tokens from left to right; if several begin at one place, the longest.
class AddedTokenFinder {
 public:
  // The text `patterns[i]` is found as `tokens[i]`; empty patterns are never found.
  AddedTokenFinder(std::vector<AddedToken> tokens, std::vector<std::string> patterns);

  bool empty() const { return is_empty_; }

  struct Part {
    std::string_view text;
    const AddedToken* token;  // null: text between added tokens
  };
  std::vector<Part> split(std::string_view text) const;

 private:
  std::size_t find_first_byte(std::string_view text, std::size_t from) const;
  std::size_t longest_at(std::string_view text, std::size_t at) const;

  std::vector<AddedToken> tokens_;
  std::vector<std::string> patterns_;
  PieceTrie trie_;                  // of the patterns
  std::array<bool, 256> begins_{};  // bytes that some pattern begins with
  bool is_empty_ = true;
};

}  // namespace hearth::tokenizer
