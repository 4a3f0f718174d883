#include "hearth/tokenizer/added_tokens.h"

#include <algorithm>
#include <utility>

#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u; }

std::size_t last_character(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && continues_character(text[at])) --at;
  return at;
}

bool is_space(char32_t c) { return (character_traits()[c] & kSpace) != 0; }

bool ends_with_letter(std::string_view text) {
  if (text.empty()) return false;
  std::size_t at = last_character(text);
  return is_word_character(read_code_point(text, at));
}

bool starts_with_letter(std::string_view text) {
  std::size_t at = 0;
  return !text.empty() && is_word_character(read_code_point(text, at));
}

std::size_t without_trailing_spaces(std::string_view text) {
  while (!text.empty()) {
    const std::size_t last = last_character(text);
    std::size_t at = last;
    if (!is_space(read_code_point(text, at))) break;
    text = text.substr(0, last);
  }
  return text.size();
}

std::size_t leading_spaces(std::string_view text) {
  std::size_t spaces = 0;
  for (std::size_t at = 0; at < text.size(); spaces = at)
    if (!is_space(read_code_point(text, at))) break;
  return spaces;
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens, std::vector<std::string> patterns)
    : tokens_(std::move(tokens)), patterns_(std::move(patterns)) {
  for (std::size_t i = 0; i < patterns_.size(); ++i) {
    if (patterns_[i].empty()) continue;
    by_length_.push_back(i);
    if (first_bytes_.find(patterns_[i].front()) == kNone) first_bytes_ += patterns_[i].front();
  }
  std::ranges::stable_sort(by_length_, std::greater{}, [&](std::size_t i) { return patterns_[i].size(); });
}

std::size_t AddedTokenFinder::find_first_byte(std::string_view text, std::size_t from) const {
  return first_bytes_.size() == 1 ? text.find(first_bytes_.front(), from) : text.find_first_of(first_bytes_, from);
}

std::size_t AddedTokenFinder::longest_at(std::string_view text, std::size_t at) const {
  const auto found =
      std::ranges::find_if(by_length_, [&](std::size_t i) { return text.substr(at).starts_with(patterns_[i]); });
  return found == by_length_.end() ? kNone : *found;
}

std::vector<AddedTokenFinder::Part> AddedTokenFinder::split(std::string_view text) const {
  std::vector<Part> parts;
  std::size_t done = 0;  // end of the last part
  for (std::size_t at = find_first_byte(text, 0); at != kNone; at = find_first_byte(text, at)) {
    const std::size_t found = longest_at(text, at);
    if (found == kNone) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[found];
    std::size_t begin = at, end = at + patterns_[found].size();
    at = end;
    if (token.single_word && (ends_with_letter(text.substr(0, begin)) || starts_with_letter(text.substr(end))))
      continue;
    if (token.lstrip) begin = std::max(done, without_trailing_spaces(text.substr(0, begin)));
    if (token.rstrip) end += leading_spaces(text.substr(end));
    if (done < begin) parts.push_back({text.substr(done, begin - done), nullptr});
    parts.push_back({text.substr(begin, end - begin), &token});
    done = end;
  }
  if (done < text.size()) parts.push_back({text.substr(done), nullptr});
  return parts;
}

}  // namespace hearth::tokenizer
