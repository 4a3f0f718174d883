#include "hearth/data/parquet/class_names.h"

#include <algorithm>

#include "hearth/io/json.h"

namespace hearth::data::parquet {
namespace {

using io::Json;

// The member of an object; null where there is none.
Json member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? Json() : *found;
}

// {"_type": "ClassLabel", "names": [...]}, alone or as the feature of a list.
std::vector<std::string> names_in(const Json& feature) {
  const Json type = member(feature, "_type"), names = member(feature, "names");
  if (type == "Sequence" || type == "List" || type == "LargeList") return names_in(member(feature, "feature"));
  if (feature.is_array() && feature.size() == 1) return names_in(feature.front());
  const auto is_text = [](const Json& name) { return name.is_string(); };
  if (type != "ClassLabel" || !names.is_array() || !std::ranges::all_of(names, is_text)) return {};
  return names.get<std::vector<std::string>>();
}

}  // namespace

std::vector<std::string> class_names(const FileMetadata& metadata, const std::string& column, const std::string& file) {
  const auto found = std::ranges::find(metadata.keys, "huggingface", &std::pair<std::string, std::string>::first);
  if (found == metadata.keys.end()) return {};
  const Json features = member(member(io::parse_json(found->second, file), "info"), "features");
  return names_in(member(features, column.c_str()));
}

}  // namespace hearth::data::parquet
