#include "hearth/data/csv.h"

#include <utility>

#include "hearth/base/check.h"

namespace hearth::data {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

CsvReader::CsvReader(std::string_view text, char separator, std::string name)
    : text_(text), separator_(separator), name_(std::move(name)) {
  if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
}

bool CsvReader::next(std::vector<std::string>& fields) {
  fields.clear();
  while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  if (at_ == text_.size()) return false;
  ++record_;
  for (;;) {
    fields.push_back(field());
    if (at_ == text_.size()) return true;
    const char end = text_[at_++];
    if (end == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
    if (end != separator_) return true;
  }
}

std::string CsvReader::field() {
  const char separator_or_line_end[] = {separator_, '\r', '\n'};
  const std::string_view ends(separator_or_line_end, sizeof separator_or_line_end);
  const auto plain = [&] {
    const std::size_t end = text_.find_first_of(ends, at_);
    const std::size_t begin = std::exchange(at_, end == text_.npos ? text_.size() : end);
    return text_.substr(begin, at_ - begin);
  };
  if (at_ == text_.size() || text_[at_] != '"') return std::string(plain());
  std::string value;
  for (++at_;; ++at_) {
    const std::size_t quote = text_.find('"', at_);
    check(quote != text_.npos,
          "{}: {}: a quoted field has no closing quote; end the field with one, and double the quotes inside it", name_,
          record_ == 0 ? "header" : fmt::format("record {}", record_));
    value.append(text_, at_, quote - at_);
    at_ = quote + 1;
    if (at_ == text_.size() || text_[at_] != '"') break;
    value.push_back('"');
  }
  return value.append(plain());
}

}  // namespace hearth::data
