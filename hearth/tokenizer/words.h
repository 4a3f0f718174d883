#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tokenizer {

struct ByteRange {
  std::size_t begin, end;
  bool operator==(const ByteRange&) const = default;
};

// A normalised text on its way through the pre-tokenizers, and the words that it is split into: ranges of its bytes.
class Words {
 public:
  // `origins`: for each byte the code point of the original text; null if each byte is one, from `first` on. Both are
  // borrowed. The text is UTF-8, and one word at first.
  Words(std::string_view text, const std::int32_t* origins, std::int32_t first)
      : text_(text), origins_(origins), first_(first) {
    if (!text.empty()) ranges_.push_back({0, text.size()});
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  std::string_view text() const { return text_; }
  std::string_view text(ByteRange range) const { return text_.substr(range.begin, range.end - range.begin); }
  std::int32_t origin(std::size_t byte) const {
    return origins_ ? origins_[byte] : first_ + static_cast<std::int32_t>(byte);
  }
  Offset place(ByteRange range) const { return {origin(range.begin), origin(range.end - 1) + 1}; }

  const std::vector<ByteRange>& ranges() const { return ranges_; }
  void split(std::vector<ByteRange> ranges) { ranges_ = std::move(ranges); }
  // Another text, with words of its own.
  void rewrite(std::string text, std::vector<std::int32_t> origins, std::vector<ByteRange> ranges) {
    owned_text_ = std::move(text);
    owned_origins_ = std::move(origins);
    text_ = owned_text_;
    origins_ = owned_origins_.data();
    ranges_ = std::move(ranges);
  }

 private:
  std::string_view text_;
  const std::int32_t* origins_;
  std::int32_t first_;
  std::vector<ByteRange> ranges_;
  std::string owned_text_;
  std::vector<std::int32_t> owned_origins_;
};

}  // namespace hearth::tokenizer
