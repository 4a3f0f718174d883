#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "hearth/io/text_buffer.h"

namespace hearth::data {

// The lines of a text, without their ends (LF or CR LF). A line that is not UTF-8 is an Error.
class TextLines {
 public:
  explicit TextLines(io::TextBuffer text) : text_(std::move(text)) {}
  TextLines(std::string_view text, std::string name) : text_(std::string(text), std::move(name)) {}

  // False at the end of the text. `line` is valid until the next call.
  bool next(std::string_view& line);
  std::int64_t number() const { return number_; }  // of the last line, from 1
  const std::string& name() const { return text_.name(); }

 private:
  io::TextBuffer text_;
  std::size_t used_ = 0;  // bytes of the last line
  std::int64_t number_ = 0;
};

}  // namespace hearth::data
