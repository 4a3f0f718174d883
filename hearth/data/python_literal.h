#pragma once

#include <string_view>

#include "hearth/io/json_fwd.h"

namespace hearth::data {

// What Python prints for dicts, lists, tuples, strings, numbers, True, False, None and numpy's array(...), which is how
// structured columns end up in CSV files. JSON is accepted too. `name` is what the text is called in errors.
io::Json parse_python_literal(std::string_view text, std::string_view name);

}  // namespace hearth::data
