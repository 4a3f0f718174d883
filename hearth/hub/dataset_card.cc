#include "hearth/hub/dataset_card.h"

#include <optional>

#include "hearth/base/check.h"
#include "hearth/base/whole_number.h"
#include "hearth/io/json.h"
#include "hearth/io/yaml.h"

namespace hearth::hub {
namespace {

constexpr const char* kDefault = "default";

// The YAML between the first two lines of dashes.
std::string_view head_of(std::string_view readme) {
  constexpr std::string_view kLine = "---\n";
  if (!readme.starts_with(kLine)) return "";
  readme.remove_prefix(kLine.size());
  const std::size_t end = readme.starts_with(kLine) ? 0 : readme.find("\n---");
  return end == readme.npos ? "" : readme.substr(0, end + (end == 0 ? 0 : 1));
}

std::vector<std::string> texts_of(const io::Json& value, const std::string& name) {
  std::vector<std::string> texts;
  if (value.is_string()) return {value.get<std::string>()};
  check(value.is_array(), "{}: data_files must be a path or a list of paths, not {}", name, io::excerpt(value));
  for (const io::Json& item : value) {
    check(item.is_string(), "{}: {} is not a path", name, io::excerpt(item));
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

// A path, a list of paths, or a list of {split, path}.
std::vector<DatasetConfig::Split> splits_of(const io::Json& value, const std::string& name) {
  const bool has_splits = value.is_array() && !value.empty() && value.front().is_object();
  if (!has_splits) return {{"train", texts_of(value, name)}};
  std::vector<DatasetConfig::Split> splits;
  for (const io::Json& item : value) {
    check(item.is_object() && item.contains("path"), "{}: {} must have split and path", name, io::excerpt(item));
    splits.push_back({io::get_string(item, "split", name), texts_of(item["path"], name)});
  }
  return splits;
}

DatasetConfig config_of(const io::Json& value, const std::string& name) {
  check(value.is_object(), "{}: {} is not a configuration", name, io::excerpt(value));
  DatasetConfig config;
  config.name = io::get_string_or(value, "config_name", kDefault, name);
  config.data_dir = io::get_string_or(value, "data_dir", "", name);
  config.is_default = config.name == kDefault || io::get_bool_or(value, "default", false, name);
  if (value.contains("data_files")) config.splits = splits_of(value["data_files"], name);
  return config;
}

// {'0': O, '1': B-PER, ...} or a list.
std::vector<std::string> names_of(const io::Json& value, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [key, text] : value.items()) {
    const auto number = value.is_array() ? names.size() : whole_number<std::size_t>(key);
    check(text.is_string() && number == names.size(), "{}: the names of classes must be numbered from 0, not {}", name,
          io::excerpt(value));
    names.push_back(text.get<std::string>());
  }
  return names;
}

// The names of a feature's classes; nullopt where it has none. A list of classes is written in several ways.
std::optional<std::vector<std::string>> class_names_of(const io::Json& feature, const std::string& name) {
  for (const char* key : {"dtype", "sequence", "list"}) {
    if (!feature.contains(key) || !feature[key].is_object()) continue;
    const io::Json& type = feature[key];
    if (type.contains("class_label") && type["class_label"].is_object() && type["class_label"].contains("names") &&
        type["class_label"]["names"].is_structured())
      return names_of(type["class_label"]["names"], name);
    if (auto inner = class_names_of(type, name)) return inner;
  }
  return std::nullopt;
}

void add_class_names(const io::Json& info, DatasetCard& card, const std::string& name) {
  if (!info.is_object() || !info.contains("features") || !info["features"].is_array()) return;
  ClassNames& columns = card.class_names[io::get_string_or(info, "config_name", kDefault, name)];
  for (const io::Json& feature : info["features"])
    if (feature.is_object() && feature.contains("name") && feature["name"].is_string())
      if (auto names = class_names_of(feature, name)) columns[feature["name"].get<std::string>()] = std::move(*names);
}

}  // namespace

DatasetCard parse_dataset_card(std::string_view readme, const std::string& name) {
  DatasetCard card;
  const io::Json head = io::parse_yaml(head_of(readme), name);
  if (!head.is_object()) return card;
  if (head.contains("configs") && head["configs"].is_array())
    for (const io::Json& value : head["configs"]) card.configs.push_back(config_of(value, name));
  if (head.contains("dataset_info")) {
    const io::Json& infos = head["dataset_info"];
    if (infos.is_array())
      for (const io::Json& info : infos) add_class_names(info, card, name);
    else
      add_class_names(infos, card, name);
  }
  return card;
}

}  // namespace hearth::hub
