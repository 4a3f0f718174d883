#include "hearth/tokenizer/tokenizer.h"

#include <algorithm>
#include <utility>

#include "hearth/base/check.h"

namespace hearth::tokenizer {

TokenizedText slice(const TokenizedText& pieces, std::int64_t begin, std::int64_t end) {
  return {.ids = {pieces.ids.begin() + begin, pieces.ids.begin() + end},
          .offsets = {pieces.offsets.begin() + begin, pieces.offsets.begin() + end}};
}

namespace {

TokenizedText first_of(TokenizedText pieces, std::int64_t count) {
  pieces.ids.resize(std::min(pieces.ids.size(), static_cast<std::size_t>(count)));
  pieces.offsets.resize(pieces.ids.size());
  return pieces;
}

std::int64_t room_in(std::int64_t max_length, std::int64_t special_tokens) {
  check(max_length >= special_tokens,
        "a maximum length of {} has no room for the {} special tokens around a text; raise the maximum length",
        max_length, special_tokens);
  return max_length - special_tokens;
}

}  // namespace

PairLengths longest_first(PairLengths lengths, std::int64_t room) {
  std::int64_t shorter = std::min(lengths.first, lengths.second), longer = std::max(lengths.first, lengths.second);
  if (shorter + longer <= room) return lengths;
  longer = shorter > room ? shorter : std::max(shorter, room - shorter);
  if (shorter + longer > room) {
    shorter = room / 2;
    longer = shorter + room % 2;
  }
  return lengths.first > lengths.second ? PairLengths{longer, shorter} : PairLengths{shorter, longer};
}

Encoding Tokenizer::encode(std::string_view text) const { return build(pieces(text)); }

Encoding Tokenizer::encode(std::string_view first, std::string_view second) const {
  return build(pieces(first), pieces(second));
}

Encoding Tokenizer::encode_truncated(std::string_view text, std::int64_t max_length) const {
  return build(first_of(pieces(text), room_in(max_length, special_tokens(false))));
}

Encoding Tokenizer::encode_truncated(std::string_view first, std::string_view second, std::int64_t max_length) const {
  TokenizedText a = pieces(first), b = pieces(second);
  const PairLengths kept =
      longest_first({std::ssize(a.ids), std::ssize(b.ids)}, room_in(max_length, special_tokens(true)));
  return build(first_of(std::move(a), kept.first), first_of(std::move(b), kept.second));
}

std::vector<Encoding> Tokenizer::encode_windows(const TokenizedText& first, const TokenizedText& second,
                                                std::int64_t max_length, std::int64_t stride) const {
  const auto first_size = static_cast<std::int64_t>(first.ids.size());
  const auto second_size = static_cast<std::int64_t>(second.ids.size());
  const std::int64_t special = special_tokens(true);
  const std::int64_t room = max_length - special - first_size;
  if (second_size <= room) return {build(first, second)};
  check(room > 0,
        "a maximum length of {} leaves no room for the second text: the first has {} tokens, and {} special tokens are "
        "added; shorten the first text or raise the maximum length",
        max_length, first_size, special);
  check(0 <= stride && stride < room,
        "a stride of {} does not fit: a maximum length of {}, with {} tokens of the first text and {} special tokens, "
        "leaves room for {} tokens of the second, and the stride must be less than that",
        stride, max_length, first_size, special, room);
  std::vector<Encoding> windows;
  for (std::int64_t begin = 0, end = 0; end < second_size; begin += room - stride) {
    end = std::min(begin + room, second_size);
    windows.push_back(build(first, slice(second, begin, end)));
  }
  return windows;
}

}  // namespace hearth::tokenizer
