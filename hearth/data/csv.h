#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/io/text_buffer.h"

namespace hearth::data {

// Comma-separated or tab-separated values as spreadsheets, pandas and Python's csv module (dialects excel and
// excel-tab) write them: a field in double quotes may hold separators, line ends and doubled quotes. Blank lines are
// skipped.
class CsvReader {
 public:
  // Errors call the first record the header, and count the others from 1.
  CsvReader(io::TextBuffer text, char separator) : text_(std::move(text)), separator_(separator) {}

  // Reads the next record; false at the end of the text.
  bool next(std::vector<std::string>& fields);
  std::int64_t number() const { return record_; }  // of the last record; 0 is the header
  const std::string& name() const { return text_.name(); }

 private:
  bool skip_blank_lines();
  // Tries to read a record at the beginning of the view. False: its end is not there yet.
  bool parse(std::vector<std::string>& fields, bool is_last);
  bool parse_field(std::string_view text, std::string& field, bool is_last);
  [[noreturn]] void unclosed() const;

  io::TextBuffer text_;
  char separator_;
  std::size_t at_ = 0;  // in the view, while a record is parsed
  std::int64_t record_ = -1;
};

}  // namespace hearth::data
