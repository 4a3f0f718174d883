#include "hearth/base/error.h"

#include "hearth/base/text_layout.h"

namespace hearth {

Error::Error(const std::string& sentence) : std::runtime_error(printable_lines(sentence)) {}

}  // namespace hearth
