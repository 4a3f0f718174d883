#include "hearth/metrics/metrics_json.h"

#include "hearth/base/check.h"
#include "hearth/io/json.h"

namespace hearth {
namespace {

Number number_from_json(const io::Json& value, std::string_view key, std::string_view file) {
  if (value.is_number_float()) return value.get<double>();
  check(value.is_number_integer(), "{}: the metric {} is not a number but {}", file, key, io::excerpt(value));
  return io::get_int({{key, value}}, key, file);
}

}  // namespace

io::Json to_json(const Metrics& metrics) {
  io::Json json = io::Json::object();
  for (const auto& [name, value] : metrics) {
    if (value.is_integer())
      json[name] = value.as_integer();
    else
      json[name] = value.as_double();
  }
  return json;
}

Metrics metrics_from_json(const io::Json& json, std::string_view file) {
  check(json.is_object(), "{}: expected an object of metrics, found {}", file, io::excerpt(json));
  Metrics metrics;
  for (const auto& [key, value] : json.items()) metrics.set(key, number_from_json(value, key, file));
  return metrics;
}

}  // namespace hearth
