#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::tokenizer {

// A token found in the text as it stands, before words are looked at: [MASK] and its like, and what users add.
struct AddedToken {
  std::int32_t id = -1;
  std::string content;
  bool single_word = false;  // only where no letter touches it
  bool lstrip = false;       // takes the spaces before it
  bool rstrip = false;       // takes the spaces behind it
  bool normalized = false;   // found in the normalised text instead
  bool special = true;       // left out of decoded text on request
};

// Finds added tokens, from left to right, the longest where several begin at one place.
class AddedTokenFinder {
 public:
  // What to look for is `patterns[i]`, which stands for `tokens[i]`; empty patterns are never found.
  AddedTokenFinder(std::vector<AddedToken> tokens, std::vector<std::string> patterns);

  bool empty() const { return by_length_.empty(); }

  struct Part {
    std::string_view text;
    const AddedToken* token;  // null for the text in between
  };
  std::vector<Part> split(std::string_view text) const;

 private:
  std::size_t find_first_byte(std::string_view text, std::size_t from) const;
  std::size_t longest_at(std::string_view text, std::size_t at) const;

  std::vector<AddedToken> tokens_;
  std::vector<std::string> patterns_;
  std::vector<std::size_t> by_length_;  // indices into patterns_, longest first
  std::string first_bytes_;
};

}  // namespace hearth::tokenizer
