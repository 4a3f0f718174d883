#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "hearth/io/byte_source.h"

namespace hearth::io {

// A text that is read piece by piece: view() is what has been read and not yet consumed. A byte-order mark at the
// beginning is skipped. Readers look for a record in view(), call grow() while it has no end, and consume() it.
class TextBuffer {
 public:
  // `name` is the name of the text in errors.
  explicit TextBuffer(const std::filesystem::path& file);
  TextBuffer(std::string text, std::string name);

  const std::string& name() const { return name_; }
  std::string_view view() const { return std::string_view(text_).substr(at_); }
  // Reads more behind view(), which may move in memory; false at the end of the text. Text that grows beyond the
  // largest record (256 MiB) is an Error.
  bool grow();
  void grow_to_end();  // without a limit
  void consume(std::size_t bytes) { at_ += bytes; }

 private:
  bool read_more();
  void skip_byte_order_mark();

  std::string name_, text_;
  std::size_t at_ = 0;
  std::unique_ptr<ByteSource> source_;  // null at the end
};

}  // namespace hearth::io
