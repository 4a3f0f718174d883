#include "hearth/data/json_list.h"

#include <cctype>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/json.h"

namespace hearth::data {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";
constexpr std::size_t kLongestBeginning = 1 << 20;  // of the fields before "data"

// Finds the end of a value in pieces of text.
class ValueScan {
 public:
  // Takes the next characters; true where the value ends before end(), which counts from the first character taken.
  bool scan(std::string_view text) {
    for (; at_ < text.size(); ++at_) {
      const char c = text[at_];
      if (in_string_) {
        in_string_ = escaped_ || c != '"';
        escaped_ = !escaped_ && c == '\\';
        if (!in_string_ && depth_ == 0) return ++at_, true;
      } else if (c == '"') {
        in_string_ = true;
      } else if (c == '{' || c == '[') {
        ++depth_;
      } else if (c == '}' || c == ']') {
        if (depth_ == 0) return true;
        if (--depth_ == 0) return ++at_, true;
      } else if (depth_ == 0 && (c == ',' || c == ':' || kSpaces.find(c) != kSpaces.npos)) {
        return true;
      }
    }
    return false;
  }
  std::size_t end() const { return at_; }

 private:
  std::size_t at_ = 0, depth_ = 0;
  bool in_string_ = false, escaped_ = false;
};

// Skips spaces from `at` on.
std::size_t word_at(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(kSpaces, at), text.size());
}

// Where the list of a document {..., "data": [{ begins; nothing where the beginning of the text has no such list.
std::size_t data_list_in(std::string_view text) {
  const auto value_end = [&](std::size_t begin) {
    ValueScan scan;
    return scan.scan(text.substr(begin)) ? begin + scan.end() : text.npos;
  };
  for (std::size_t at = word_at(text, 0); at < text.size() && (text[at] == '{' || text[at] == ',');) {
    const std::size_t key = word_at(text, at + 1), key_end = value_end(key);
    if (key_end == text.npos) break;
    const std::size_t colon = word_at(text, key_end), value = word_at(text, colon + 1);
    if (colon >= text.size() || text[colon] != ':' || value >= text.size()) break;
    if (text.substr(key, key_end - key) == "\"data\"") {
      const std::size_t item = word_at(text, value + 1);
      return text[value] == '[' && item < text.size() && text[item] == '{' ? value : text.npos;
    }
    const std::size_t end = value_end(value);
    if (end == text.npos) break;
    at = word_at(text, end);
  }
  return text.npos;
}

}  // namespace

std::string_view json_value_in(io::TextBuffer& text) {
  ValueScan scan;
  while (!scan.scan(text.view()))
    if (!text.grow()) break;
  return text.view().substr(0, scan.end());
}

std::unique_ptr<JsonList> JsonList::in(io::TextBuffer& text) {
  while (text.view().size() < kLongestBeginning && text.grow()) {
  }
  const std::string_view view = text.view();
  const std::size_t first = word_at(view, 0);
  const bool is_list = first < view.size() && view[first] == '[';
  const std::size_t list = is_list ? first : data_list_in(view);
  if (list == view.npos) return nullptr;
  std::string before(view.substr(0, list));
  text.consume(list + 1);
  return std::unique_ptr<JsonList>(new JsonList(std::move(text), std::move(before)));
}

char JsonList::next_character() {
  for (;;) {
    const std::size_t begin = text_.view().find_first_not_of(kSpaces);
    text_.consume(std::min(begin, text_.view().size()));
    if (begin != std::string_view::npos) return text_.view().front();
    if (!text_.grow()) return '\0';
  }
}

bool JsonList::next(io::Json& item) {
  const char first = next_character();
  if (first == ']') {
    end();
    return false;
  }
  if (number_ > 0) {
    check(first == ',', "{} is not valid JSON: after record {} a comma or the end of the list is missing", text_.name(),
          number_);
    text_.consume(1);
    next_character();
  }
  ++number_;
  const std::string_view value = json_value_in(text_);
  item = io::parse_json(value, fmt::format("{}: record {}", text_.name(), number_));
  text_.consume(value.size());
  return true;
}

// What stands around the list must be JSON, too. It is short; where it is not, it is no document of records.
void JsonList::end() {
  text_.grow_to_end();
  io::parse_json(before_ + "[" + std::string(text_.view()), text_.name());
}

}  // namespace hearth::data
