#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::data {

// The lines of a text, without their ends (LF or CR LF). A byte-order mark is skipped; a line that is not UTF-8 is an
// Error.
class TextLines {
 public:
  // Errors call the text `name`. The text must outlive the lines.
  TextLines(std::string_view text, std::string name);

  bool next(std::string_view& line);               // false at the end of the text
  std::int64_t number() const { return number_; }  // of the last line, from 1

 private:
  std::string_view rest_;
  std::string name_;
  std::int64_t number_ = 0;
};

}  // namespace hearth::data
