#include "hearth/tokenizer/text.h"

#include <cstddef>

#include "hearth/io/utf8.h"
#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer::python {
namespace {

constexpr char32_t kCapitalSigma = 0x3A3, kSigma = 0x3C3, kFinalSigma = 0x3C2;

bool continues_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u; }

std::size_t byte_position(std::string_view text, std::int64_t position) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (continues_code_point(text[at])) continue;
    if (position-- == 0) break;
  }
  return at;
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_cased(char32_t code_point) { return has_trait(code_point, kPythonCase); }
bool is_case_ignorable(char32_t code_point) { return has_trait(code_point, kPythonIgnorable); }

// A sigma is final when a cased letter stands before it and none behind, case-ignorable characters apart.
bool is_final_sigma(const std::u32string& text, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  if (before == 0 || !is_cased(text[before - 1])) return false;
  std::size_t behind = at + 1;
  while (behind < text.size() && is_case_ignorable(text[behind])) ++behind;
  return behind == text.size() || !is_cased(text[behind]);
}

}  // namespace

std::int64_t length(std::string_view text) {
  std::int64_t count = 0;
  for (const char byte : text) count += continues_code_point(byte) ? 0 : 1;
  return count;
}

std::string_view suffix(std::string_view text, std::int64_t begin) { return text.substr(byte_position(text, begin)); }

std::string_view slice(std::string_view text, std::int64_t begin, std::int64_t end) {
  if (end <= begin) return {};
  const std::string_view rest = suffix(text, begin);
  return rest.substr(0, byte_position(rest, end - begin));
}

bool is_word(char32_t code_point) { return code_point == '_' || has_trait(code_point, kPythonAlnum); }

std::string_view lstrip(std::string_view text) {
  std::size_t begin = 0, at = 0;
  while (at < text.size() && is_space(read_code_point(text, at))) begin = at;
  return text.substr(begin);
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t word = 0, at = 0;
  while (at < text.size()) {
    const std::size_t here = at;
    if (!is_space(read_code_point(text, at))) continue;
    if (here > word) words.push_back(text.substr(word, here - word));
    word = at;
  }
  if (text.size() > word) words.push_back(text.substr(word));
  return words;
}

std::string lower(std::string_view text) {
  std::u32string code_points;
  for (std::size_t at = 0; at < text.size();) code_points.push_back(read_code_point(text, at));
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < code_points.size(); ++i) {
    const char32_t c = code_points[i];
    if (c == kCapitalSigma) {
      io::append_utf8(result, is_final_sigma(code_points, i) ? kFinalSigma : kSigma);
    } else if (c == kCapitalIWithDot) {
      io::append_utf8(result, U'i');
      io::append_utf8(result, kDotAbove);
    } else {
      io::append_utf8(result, lowercase(c));
    }
  }
  return result;
}

}  // namespace hearth::tokenizer::python
