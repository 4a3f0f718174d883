#include "hearth/base/text_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <clocale>
#include <cwchar>

namespace hearth {
namespace {

// Reads UTF-8 in this thread while it lives, whatever locale the program runs in.
class Utf8Locale {
 public:
  Utf8Locale() : before_(uselocale(instance())) {}
  ~Utf8Locale() { uselocale(before_); }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  static locale_t instance() {
    static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return locale;
  }
  locale_t before_;
};

struct Character {
  std::string text;  // an escape where the bytes cannot be shown
  std::size_t columns;
};

// Embeddings, overrides and isolates of the bidirectional algorithm: they show text in another order than it has.
bool reorders_text(wchar_t c) { return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069); }

Character take_character(std::string_view& text) {
  std::mbstate_t state{};
  wchar_t wide = 0;
  const std::size_t length = std::mbrtowc(&wide, text.data(), text.size(), &state);
  const bool valid = length > 0 && length <= text.size();
  const int columns = valid && !reorders_text(wide) ? wcwidth(wide) : -1;
  const std::string_view bytes = text.substr(0, valid ? length : 1);
  text.remove_prefix(bytes.size());
  if (columns >= 0) return {std::string(bytes), static_cast<std::size_t>(columns)};
  const std::string escape = bytes.size() == 1 ? fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]))
                                               : fmt::format("\\u{:04x}", static_cast<unsigned>(wide));
  return {escape, escape.size()};
}

std::string printable_but(std::string_view text, std::string_view kept) {
  const Utf8Locale locale;
  std::string result;
  while (!text.empty()) {
    if (kept.find(text[0]) == kept.npos) {
      result += take_character(text).text;
    } else {
      result += text[0];
      text.remove_prefix(1);
    }
  }
  return result;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  const Utf8Locale locale;
  std::size_t columns = 0;
  while (!text.empty()) columns += take_character(text).columns;
  return columns;
}

std::string printable(std::string_view text) { return printable_but(text, ""); }
std::string printable_lines(std::string_view text) { return printable_but(text, "\n\t"); }

std::string shortened(std::string_view text, std::size_t columns) {
  constexpr std::string_view kCut = "...";
  if (columns_of(text) <= columns) return std::string(text);
  if (columns < kCut.size()) return std::string(columns, '.');
  const Utf8Locale locale;
  std::string result;
  for (std::size_t room = columns - kCut.size();;) {
    const Character next = take_character(text);
    if (next.columns > room) return result.append(kCut);
    room -= next.columns;
    result += next.text;
  }
}

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string result;
  std::size_t used = indent;
  std::string_view separator;  // between the last word and the next
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    const std::size_t width = columns_of(word);
    if (separator == "\n" || (separator == " " && used + 1 + width > columns)) {
      result += "\n" + std::string(indent, ' ');
      used = indent;
    } else {
      result += separator;
      used += separator.size();
    }
    result += word;
    used += width;
    separator = text.substr(word.size(), 1);
    text.remove_prefix(word.size() + separator.size());
  }
  return result;
}

}  // namespace hearth
