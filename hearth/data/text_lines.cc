#include "hearth/data/text_lines.h"

#include <algorithm>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/utf8.h"

namespace hearth::data {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

TextLines::TextLines(std::string_view text, std::string name) : rest_(text), name_(std::move(name)) {
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
}

bool TextLines::next(std::string_view& line) {
  if (rest_.empty()) return false;
  ++number_;
  line = rest_.substr(0, rest_.find('\n'));
  rest_.remove_prefix(std::min(rest_.size(), line.size() + 1));
  if (line.ends_with('\r')) line.remove_suffix(1);
  check(io::is_utf8(line), "{}: line {} is not UTF-8 text; save the file as UTF-8", name_, number_);
  return true;
}

}  // namespace hearth::data
