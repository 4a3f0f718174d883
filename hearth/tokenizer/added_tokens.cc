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

bool is_space(char32_t c) { return has_trait(c, kSpace); }

bool ends_with_letter(std::string_view text) {
  if (text.empty()) return false;
  std::size_t at = last_character(text);
  return has_trait(read_code_point(text, at), kWordCharacter);
}

bool starts_with_letter(std::string_view text) {
  std::size_t at = 0;
  return !text.empty() && has_trait(read_code_point(text, at), kWordCharacter);
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
    : tokens_(std::move(tokens)), patterns_(std::move(patterns)), trie_(patterns_) {
  for (const std::string& pattern : patterns_)
    if (!pattern.empty()) begins_[static_cast<unsigned char>(pattern.front())] = true;
  is_empty_ = std::ranges::all_of(patterns_, &std::string::empty);
}

std::size_t AddedTokenFinder::find_first_byte(std::string_view text, std::size_t from) const {
  if (is_empty_) return kNone;
  while (from < text.size() && !begins_[static_cast<unsigned char>(text[from])]) ++from;
  return from < text.size() ? from : kNone;
}

std::size_t AddedTokenFinder::longest_at(std::string_view text, std::size_t at) const {
  std::size_t longest = kNone;
  for (PieceTrie::Node node = PieceTrie::kRoot; at < text.size();) {
    node = trie_.child(node, text[at++]);
    if (node == PieceTrie::kNowhere) break;
    if (trie_.token(node) != PieceTrie::kNoToken) longest = static_cast<std::size_t>(trie_.token(node));
  }
  return longest;
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
