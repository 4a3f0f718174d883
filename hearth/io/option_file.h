#pragma once

#include <string>
#include <string_view>

#include "hearth/io/json_fwd.h"

namespace hearth::io {

// Whether a command's first word names a file of options: it ends in .json, .yaml or .yml.
bool is_option_file(std::string_view word);

// The file's object, with options as keys.
Json read_option_file(const std::string& file);

}  // namespace hearth::io
