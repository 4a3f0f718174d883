#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "hearth/io/json_fwd.h"

namespace hearth::io {

// Reads JSON like Python's json module: NaN, Infinity and -Infinity are numbers; of equal keys the last one wins.
Json read_json(const std::filesystem::path& path);
// `name` is the name of the text in errors: the path of a file.
Json parse_json(std::string_view text, std::string_view name);
// The same, but equal keys are an error.
Json parse_json_strict(std::string_view text, std::string_view name);

// Same bytes as Python's json.dumps(value, indent=indent, sort_keys=sort_keys); no newline at the end.
inline constexpr int kOneLine = -1;  // indent=None
std::string dump_json(const Json& value, int indent, bool sort_keys = false);
// For errors: any value as one line of JSON, shortened if it is long.
std::string excerpt(const Json& value);

// The value of a key; a missing key or another type is an Error that names the file, the key and what was found.
std::int64_t get_int(const Json& object, std::string_view key, std::string_view file);
double get_double(const Json& object, std::string_view key, std::string_view file);  // takes integers too
bool get_bool(const Json& object, std::string_view key, std::string_view file);
std::string get_string(const Json& object, std::string_view key, std::string_view file);

// The same; below `least` or above `most` is an Error too, and so is a NaN.
std::int64_t get_int_within(const Json& object, std::string_view key, std::int64_t least, std::int64_t most,
                            std::string_view file);
double get_double_within(const Json& object, std::string_view key, double least, double most, std::string_view file);

// As get_...; a missing key and null (Python's None) give the default.
std::int64_t get_int_or(const Json& object, std::string_view key, std::int64_t otherwise, std::string_view file);
double get_double_or(const Json& object, std::string_view key, double otherwise, std::string_view file);
bool get_bool_or(const Json& object, std::string_view key, bool otherwise, std::string_view file);
std::string get_string_or(const Json& object, std::string_view key, std::string_view otherwise, std::string_view file);

}  // namespace hearth::io
