#include "hearth/io/text_buffer.h"

#include <algorithm>
#include <utility>

#include "hearth/base/check.h"

namespace hearth::io {
namespace {

constexpr std::size_t kPiece = 1 << 20, kLargestRecord = std::size_t{1} << 28;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

TextBuffer::TextBuffer(const std::filesystem::path& file) : name_(file.string()), source_(open_bytes(file)) {
  read_more();
  skip_byte_order_mark();
}

TextBuffer::TextBuffer(std::string text, std::string name) : name_(std::move(name)), text_(std::move(text)) {
  skip_byte_order_mark();
}

void TextBuffer::skip_byte_order_mark() {
  if (view().starts_with(kByteOrderMark)) consume(kByteOrderMark.size());
}

bool TextBuffer::grow() {
  check(view().size() < kLargestRecord,
        "{} has a record of more than {} MiB; its end seems to be missing: a line end, a quote or a bracket", name_,
        kLargestRecord >> 20);
  return read_more();
}

void TextBuffer::grow_to_end() {
  while (read_more()) {
  }
}

// Pieces double with the record, so that looking at it again costs little.
bool TextBuffer::read_more() {
  if (source_ == nullptr) return false;
  text_.erase(0, std::exchange(at_, 0));
  const std::size_t filled = text_.size();
  text_.resize(filled + std::max(kPiece, filled));
  const std::size_t got = source_->read(std::as_writable_bytes(std::span(text_).subspan(filled)));
  text_.resize(filled + got);
  if (got == 0) source_ = nullptr;
  return got > 0;
}

}  // namespace hearth::io
