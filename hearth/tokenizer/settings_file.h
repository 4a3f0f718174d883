#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "hearth/base/check.h"
#include "hearth/io/json.h"

namespace hearth::tokenizer {

// A JSON object in a model's folder, such as tokenizer_config.json; empty if there is no such file.
struct SettingsFile {
  std::string name;
  bool exists;
  io::Json values = io::Json::object();

  explicit SettingsFile(const std::filesystem::path& path)
      : name(path.string()), exists(std::filesystem::exists(path)) {
    if (!exists) return;
    values = io::read_json(path);
    check(values.is_object(), "{} holds no JSON object", name);
  }
  const io::Json* find(std::string_view key) const {
    const auto found = values.find(key);
    return found == values.end() ? nullptr : &*found;
  }
};

}  // namespace hearth::tokenizer
