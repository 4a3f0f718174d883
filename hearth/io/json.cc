#include "hearth/io/json.h"

#include <limits>

#include "hearth/base/check.h"
#include "hearth/io/file.h"

namespace hearth::io {
namespace {

const Json* find(const Json& object, std::string_view key, std::string_view file) {
  if (!object.is_object())
    fail("{} must hold a JSON object with the key {}, found {}", file, excerpt(key), excerpt(object));
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

const Json& at(const Json& object, std::string_view key, std::string_view file) {
  const Json* value = find(object, key, file);
  if (value == nullptr) fail("{} lacks the key {}", file, excerpt(key));
  return *value;
}

[[noreturn]] void fail_type(const Json& value, std::string_view key, std::string_view file, std::string_view wanted) {
  fail("{}: {} must be {}, found {}", file, excerpt(key), wanted, excerpt(value));
}

std::int64_t to_int(const Json& value, std::string_view key, std::string_view file) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  const bool fits = !value.is_number_unsigned() || value.get<std::uint64_t>() <= kMax;
  if (!value.is_number_integer() || !fits) fail_type(value, key, file, "an integer");
  return value.get<std::int64_t>();
}

double to_double(const Json& value, std::string_view key, std::string_view file) {
  if (!value.is_number()) fail_type(value, key, file, "a number");
  return value.get<double>();
}

bool to_bool(const Json& value, std::string_view key, std::string_view file) {
  if (!value.is_boolean()) fail_type(value, key, file, "true or false");
  return value.get<bool>();
}

std::string to_string(const Json& value, std::string_view key, std::string_view file) {
  if (!value.is_string()) fail_type(value, key, file, "a string");
  return value.get<std::string>();
}

}  // namespace

Json read_json(const std::filesystem::path& path) { return parse_json(read_file(path), path.string()); }

std::int64_t get_int(const Json& object, std::string_view key, std::string_view file) {
  return to_int(at(object, key, file), key, file);
}

double get_double(const Json& object, std::string_view key, std::string_view file) {
  return to_double(at(object, key, file), key, file);
}

bool get_bool(const Json& object, std::string_view key, std::string_view file) {
  return to_bool(at(object, key, file), key, file);
}

std::string get_string(const Json& object, std::string_view key, std::string_view file) {
  return to_string(at(object, key, file), key, file);
}

std::int64_t get_int_within(const Json& object, std::string_view key, std::int64_t least, std::int64_t most,
                            std::string_view file) {
  const std::int64_t value = get_int(object, key, file);
  check(value >= least && value <= most, "{}: {} must be from {} to {}, found {}", file, excerpt(key), least, most,
        value);
  return value;
}

double get_double_within(const Json& object, std::string_view key, double least, double most, std::string_view file) {
  const double value = get_double(object, key, file);
  check(value >= least && value <= most, "{}: {} must be from {} to {}, found {}", file, excerpt(key), least, most,
        value);
  return value;
}

std::int64_t get_int_or(const Json& object, std::string_view key, std::int64_t otherwise, std::string_view file) {
  const Json* value = find(object, key, file);
  return value == nullptr || value->is_null() ? otherwise : to_int(*value, key, file);
}

double get_double_or(const Json& object, std::string_view key, double otherwise, std::string_view file) {
  const Json* value = find(object, key, file);
  return value == nullptr || value->is_null() ? otherwise : to_double(*value, key, file);
}

bool get_bool_or(const Json& object, std::string_view key, bool otherwise, std::string_view file) {
  const Json* value = find(object, key, file);
  return value == nullptr || value->is_null() ? otherwise : to_bool(*value, key, file);
}

std::string get_string_or(const Json& object, std::string_view key, std::string_view otherwise, std::string_view file) {
  const Json* value = find(object, key, file);
  return value == nullptr || value->is_null() ? std::string(otherwise) : to_string(*value, key, file);
}

}  // namespace hearth::io
