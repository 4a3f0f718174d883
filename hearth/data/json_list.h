#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "hearth/io/json_fwd.h"
#include "hearth/io/text_buffer.h"

namespace hearth::data {

// The items of a JSON list of objects, one by one: a document [{...}, ...], or the field "data" of a document
// {..., "data": [{...}, ...], ...}.
class JsonList {
 public:
  // Nothing, with the text as it was, if it is no such document.
  static std::unique_ptr<JsonList> in(io::TextBuffer& text);

  bool next(io::Json& item);  // false at the end of the list
  std::int64_t number() const { return number_; }

 private:
  JsonList(io::TextBuffer text, std::string before) : text_(std::move(text)), before_(std::move(before)) {}

  char next_character();  // that is no space; '\0' at the end of the text. It is not consumed.
  void end();

  io::TextBuffer text_;
  std::string before_;  // the document up to the list
  std::int64_t number_ = 0;
};

// The bytes of the JSON value at the beginning of the text, which grows until the value is there. At the end of the
// text all that is left. Only strings and brackets are looked at.
std::string_view json_value_in(io::TextBuffer& text);

}  // namespace hearth::data
