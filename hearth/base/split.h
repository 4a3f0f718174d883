#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hearth {

// The parts of a text between separators; "a,,b" has three, an empty text one, which is empty.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace hearth
