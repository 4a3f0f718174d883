#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "hearth/base/argument_value.h"
#include "hearth/io/json_fwd.h"
#include "hearth/launch/config/launch_config.h"

namespace hearth::launch {

// A key of the launch file: its inner table (empty: none), its name, the member that holds its value, its meaning.
struct LaunchKey {
  std::string_view table, name;
  ArgumentTarget target;
  std::string_view meaning;
};
std::vector<LaunchKey> launch_keys(LaunchConfig& config);

// Keys of Accelerate for GPUs, TPUs and services. They are accepted only with a value that asks for nothing.
struct ForeignKey {
  std::string_view name, asks_for;
};
std::span<const ForeignKey> foreign_keys();

// The content of the file: the keys that have a value, and the foreign keys that Accelerate always writes.
io::Json launch_config_json(LaunchConfig config);

}  // namespace hearth::launch
