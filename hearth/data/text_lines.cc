#include "hearth/data/text_lines.h"

#include "hearth/base/check.h"
#include "hearth/io/utf8.h"

namespace hearth::data {

bool TextLines::next(std::string_view& line) {
  text_.consume(used_);
  std::size_t end = 0;
  for (std::size_t seen = 0; (end = text_.view().find('\n', seen)) == std::string_view::npos;) {
    seen = text_.view().size();
    if (!text_.grow()) {
      end = seen;
      break;
    }
  }
  used_ = std::min(end + 1, text_.view().size());
  if (used_ == 0) return false;
  ++number_;
  line = text_.view().substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  check(io::is_utf8(line), "{}: line {} is not UTF-8 text; save the file as UTF-8", text_.name(), number_);
  return true;
}

}  // namespace hearth::data
