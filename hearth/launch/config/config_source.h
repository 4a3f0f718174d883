#pragma once

#include <optional>
#include <string>

#include "hearth/launch/config/launch_config.h"
#include "hearth/launch/plan/launch_options.h"

namespace hearth::launch {

// The launch file, if there is one: that of --config_file, or the default one.
class ConfigSource {
 public:
  explicit ConfigSource(const LaunchOptions& options) {
    path_ = options.config_file.value_or(default_config_path().string());
    if (options.no_config_file) return;
    if (options.config_file || std::filesystem::exists(path_)) config_ = read_launch_config(path_);
  }

  const std::string& path() const { return path_; }

  template <class T>
  std::optional<T> get(T LaunchConfig::*member) const {
    return config_ ? std::optional((*config_).*member) : std::nullopt;
  }
  template <class T>
  std::optional<T> get(std::optional<T> LaunchConfig::*member) const {
    return config_ ? (*config_).*member : std::nullopt;
  }

 private:
  std::string path_;
  std::optional<LaunchConfig> config_;
};

}  // namespace hearth::launch
