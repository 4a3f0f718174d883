#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::data {

// Comma-separated values as spreadsheets and pandas write them: a field in double quotes may hold commas, line ends
// and doubled quotes. Blank lines and a byte-order mark are skipped.
class CsvReader {
 public:
  // `name` is what the text is called in errors. The text must outlive the reader.
  CsvReader(std::string_view text, std::string name);

  // The next record, or false at the end.
  bool next(std::vector<std::string>& fields);

 private:
  std::string field();

  std::string_view text_;
  std::string name_;
  std::size_t at_ = 0;
  std::int64_t record_ = 0;
};

}  // namespace hearth::data
