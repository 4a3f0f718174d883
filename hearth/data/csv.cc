#include "hearth/data/csv.h"

#include <algorithm>

#include "hearth/base/check.h"

namespace hearth::data {

bool CsvReader::next(std::vector<std::string>& fields) {
  if (!skip_blank_lines()) return false;
  ++record_;
  for (bool is_last = false; !parse(fields, is_last);) is_last = !text_.grow();
  text_.consume(at_);
  return true;
}

bool CsvReader::skip_blank_lines() {
  for (;;) {
    const std::size_t begin = text_.view().find_first_not_of("\r\n");
    text_.consume(std::min(begin, text_.view().size()));
    if (begin != std::string_view::npos) return true;
    if (!text_.grow()) return false;
  }
}

bool CsvReader::parse(std::vector<std::string>& fields, bool is_last) {
  const std::string_view text = text_.view();
  std::size_t count = 0;
  for (at_ = 0;;) {
    if (count == fields.size()) fields.emplace_back();
    if (!parse_field(text, fields[count++], is_last)) return false;
    if (at_ == text.size() || text[at_++] != separator_) break;
  }
  fields.resize(count);
  return true;
}

bool CsvReader::parse_field(std::string_view text, std::string& field, bool is_last) {
  const char separator_or_line_end[] = {separator_, '\r', '\n'};
  const std::string_view ends(separator_or_line_end, sizeof separator_or_line_end);
  field.clear();
  if (at_ < text.size() && text[at_] == '"') {
    for (++at_;; ++at_) {
      const std::size_t quote = text.find('"', at_);
      if (quote == text.npos && is_last) unclosed();
      if (quote == text.npos) return false;
      field.append(text, at_, quote - at_);
      at_ = quote + 1;
      if (at_ == text.size() || text[at_] != '"') break;
      field.push_back('"');
    }
  }
  const std::size_t end = std::min(text.find_first_of(ends, at_), text.size());
  if (end == text.size() && !is_last) return false;
  field.append(text, at_, end - at_);
  at_ = end;
  return true;
}

void CsvReader::unclosed() const {
  fail("{}: {}: a quoted field has no closing quote; end the field with one, and double the quotes inside it",
       text_.name(), record_ == 0 ? "header" : fmt::format("record {}", record_));
}

}  // namespace hearth::data
