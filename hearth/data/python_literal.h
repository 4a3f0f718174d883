#pragma once

#include <string_view>

#include "hearth/io/json_fwd.h"

namespace hearth::data {

// Parses what Python prints for dicts, lists, tuples, strings, numbers, True, False, None and numpy's array(...): CSV
// files hold structured columns in this form. JSON is accepted too. Errors call the text `name`.
io::Json parse_python_literal(std::string_view text, std::string_view name);

}  // namespace hearth::data
