#include "hearth/tokenizer/tokenizer.h"

#include <algorithm>

#include "hearth/base/error.h"

namespace hearth::tokenizer {
namespace {

Pieces slice(const Pieces& pieces, std::int64_t begin, std::int64_t end) {
  return {.ids = {pieces.ids.begin() + begin, pieces.ids.begin() + end},
          .offsets = {pieces.offsets.begin() + begin, pieces.offsets.begin() + end}};
}

}  // namespace

Encoding Tokenizer::encode(std::string_view text) const { return build(pieces(text)); }

Encoding Tokenizer::encode(std::string_view first, std::string_view second) const {
  return build(pieces(first), pieces(second));
}

std::vector<Encoding> Tokenizer::encode_windows(const Pieces& first, const Pieces& second, std::int64_t max_length,
                                                std::int64_t stride) const {
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
