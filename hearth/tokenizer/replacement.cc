#include "hearth/tokenizer/replacement.h"

#include <charconv>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/io/utf8.h"
#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {
namespace {

std::u32string code_points(std::string_view text) {
  std::u32string result;
  for (std::size_t at = 0; at < text.size();) result += read_code_point(text, at);
  return result;
}

// "+" or "{2,}"; 0 if it is neither.
std::size_t least_count(std::string_view quantifier) {
  if (quantifier == "+") return 1;
  if (!quantifier.starts_with('{') || !quantifier.ends_with(",}")) return 0;
  const std::string_view digits = quantifier.substr(1, quantifier.size() - 3);
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  return error == std::errc{} && end == digits.data() + digits.size() ? count : 0;
}

}  // namespace

Replacement::Replacement(const io::Json& node, const std::string& where)
    : content_(code_points(io::get_string(node, "content", where))) {
  const auto pattern = node.find("pattern");
  check(pattern != node.end() && pattern->is_object() && pattern->size() == 1, "{}: \"pattern\" must be an object",
        where);
  if (pattern->contains("String")) {
    literal_ = code_points(io::get_string(*pattern, "String", where));
    check(!literal_.empty(), "{}: the pattern is empty", where);
    return;
  }
  const std::string regex = io::get_string(*pattern, "Regex", where);
  any_space_ = regex.starts_with("\\s");
  literal_ = code_points(regex.substr(0, 1));
  least_ = regex.empty() ? 0 : least_count(std::string_view(regex).substr(any_space_ ? 2 : 1));
  constexpr std::string_view kOperators = "\\^$.|?*+()[]{}";
  check(least_ > 0 && (any_space_ || kOperators.find(regex[0]) == kOperators.npos),
        "{}: the regular expression {} is not supported; known are a string, or one character or \\s followed by + or "
        "{{n,}}",
        where, io::excerpt(regex));
}

std::size_t Replacement::match(std::span<const Character> text) const {
  if (least_ == 0) {
    if (literal_.empty() || text.size() < literal_.size()) return 0;
    for (std::size_t i = 0; i < literal_.size(); ++i)
      if (text[i].value != literal_[i]) return 0;
    return literal_.size();
  }
  std::size_t count = 0;
  while (count < text.size() && (any_space_ ? has_trait(text[count].value, kSpace) : text[count].value == literal_[0]))
    ++count;
  return count < least_ ? 0 : count;
}

void Replacement::apply(Characters& characters) const {
  Characters result;
  result.reserve(characters.size());
  const std::span<const Character> text(characters);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = match(text.subspan(at));
    if (length == 0) {
      result.push_back(text[at++]);
      continue;
    }
    at += length;
    for (const char32_t c : content_) result.push_back({c, text[at - 1].origin});
  }
  characters = std::move(result);
}

char Replacement::first_byte() const {
  std::string byte;
  if (!any_space_ && !literal_.empty()) io::append_utf8(byte, literal_[0]);
  return byte.empty() ? '\0' : byte[0];
}

}  // namespace hearth::tokenizer
