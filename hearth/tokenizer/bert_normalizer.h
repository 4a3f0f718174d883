#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hearth::tokenizer {

// A character of the normalised text, and which code point of the text it comes from.
struct Character {
  char32_t value;
  std::int32_t origin;
};

struct NormalizerOptions {
  bool clean_text = true;  // drop control characters, make every space a plain one
  bool handle_chinese_chars = true;
  std::optional<bool> strip_accents = {};  // unless set, follows lowercase
  bool lowercase = true;
};

class BertNormalizer {
 public:
  explicit BertNormalizer(NormalizerOptions options);

  const NormalizerOptions& options() const { return options_; }
  // The normalised text; `first` is the place of its first code point. A text may be normalised in parts cut before or
  // after any ASCII character that is not kControl: nothing reaches across.
  std::vector<Character> normalize(std::string_view text, std::int32_t first) const;

 private:
  std::vector<Character> read(std::string_view text, std::int32_t first) const;
  void strip_accents(std::vector<Character>& characters) const;
  void make_lowercase(std::vector<Character>& characters) const;

  NormalizerOptions options_;
  const std::uint8_t* traits_;
};

}  // namespace hearth::tokenizer
