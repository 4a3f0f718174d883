#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "hearth/base/argument_value.h"
#include "hearth/io/json_fwd.h"
#include "hearth/launch/launch_config.h"

namespace hearth::launch {

// A key of the launch file: the inner table it stands in (empty: none), the member that holds its value, its meaning.
struct LaunchKey {
  std::string_view table, name;
  ArgumentTarget target;
  std::string_view meaning;
};
std::vector<LaunchKey> launch_keys(LaunchConfig& config);

// Keys of Accelerate that ask for what is not a CPU; accepted where they ask for nothing.
struct ForeignKey {
  std::string_view name, asks_for;
};
std::span<const ForeignKey> foreign_keys();

// What is written: the keys that have a value, and those of the foreign ones that Accelerate writes too.
io::Json launch_config_json(LaunchConfig config);

}  // namespace hearth::launch
