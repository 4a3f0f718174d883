#pragma once

#include <string>

namespace hearth {

// `word` as it must be typed in a shell: quoted only if it has to be.
std::string shell_word(const std::string& word);

}  // namespace hearth
