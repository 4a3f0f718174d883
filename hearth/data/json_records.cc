#include "hearth/data/json_records.h"

#include <utility>

#include "hearth/base/check.h"
#include "hearth/data/json_forms.h"

namespace hearth::data {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";
constexpr std::size_t kLongestFirstLine = 64 << 20;

// More than one line, and the first is an object by itself.
bool is_json_lines(io::TextBuffer& text) {
  std::size_t end = 0;
  while ((end = text.view().find('\n')) == std::string_view::npos && text.view().size() < kLongestFirstLine)
    if (!text.grow()) return false;
  if (end == std::string_view::npos) return false;
  while (text.view().find_first_not_of(kSpaces, end) == std::string_view::npos)
    if (!text.grow()) return false;
  try {
    return io::parse_json(text.view().substr(0, end), "").is_object();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

bool JsonLines::next(io::Json& record) {
  for (std::string_view line; lines_.next(line);) {
    if (line.find_first_not_of(kSpaces) == line.npos) continue;
    ++number_;
    record = io::parse_json(line, text_of(place()));
    return true;
  }
  return false;
}

JsonRecords::JsonRecords(const std::filesystem::path& file, std::string_view known_column) : file_(file.string()) {
  io::TextBuffer text(file);
  if (is_json_lines(text)) {
    lines_ = std::make_unique<JsonLines>(std::move(text));
  } else if (!(list_ = JsonList::in(text))) {
    text.grow_to_end();
    records_ = records_of_document(io::parse_json(text.view(), file_), known_column, file_);
  }
}

bool JsonRecords::next(io::Json& record) {
  if (lines_) {
    if (!lines_->next(record)) return false;
  } else if (list_) {
    if (!list_->next(record)) return false;
  } else {
    if (records_.empty()) return false;
    record = std::move(records_.front());
    records_.pop_front();
  }
  ++number_;
  return true;
}

}  // namespace hearth::data
