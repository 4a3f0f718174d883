#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "hearth/io/json_fwd.h"

namespace hearth::io {

// YAML as PyYAML's safe_load reads it, in the words of JSON: unquoted yes, no, on, off are booleans. Errors name the
// file and the line; a key without its colon, as the end of a file that was cut off, and a key given twice are errors.
Json parse_yaml(std::string_view text, std::string_view name);

// What PyYAML's safe_dump gives for tables, lists and plain values: keys sorted, texts that would read as another type
// in single quotes.
std::string dump_yaml(const Json& value);

}  // namespace hearth::io
