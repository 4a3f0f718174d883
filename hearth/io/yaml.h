#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "hearth/io/json_fwd.h"

namespace hearth::io {

// Reads YAML like PyYAML's safe_load, as a JSON value: unquoted yes, no, on, off are booleans. Errors name the file and
// the line. A key without a colon (a file that was cut off), a key given twice, anchors and aliases are errors.
Json parse_yaml(std::string_view text, std::string_view name);

// Writes mappings, lists and plain values like PyYAML's safe_dump: keys sorted; strings that would be read as another
// type in single quotes.
std::string dump_yaml(const Json& value);

}  // namespace hearth::io
