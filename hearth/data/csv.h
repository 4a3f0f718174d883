#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::data {

// Comma-separated or tab-separated values as spreadsheets, pandas and Python's csv module (dialects excel and
// excel-tab) write them: a field in double quotes may hold separators, line ends and doubled quotes. Blank lines and a
// byte-order mark are skipped.
class CsvReader {
 public:
  // Errors call the text `name`, its first record the header, and count the others from 1. The text must outlive the
  // reader.
  CsvReader(std::string_view text, char separator, std::string name);

  // Reads the next record; false at the end of the text.
  bool next(std::vector<std::string>& fields);

 private:
  std::string field();

  std::string_view text_;
  char separator_;
  std::string name_;
  std::size_t at_ = 0;
  std::int64_t record_ = -1;
};

}  // namespace hearth::data
