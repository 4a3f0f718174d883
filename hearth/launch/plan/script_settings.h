#pragma once

#include <string>

#include "hearth/launch/config/config_source.h"
#include "hearth/launch/plan/decisions.h"
#include "hearth/launch/plan/launch_options.h"

namespace hearth::launch {

// The settings that scripts get through ACCELERATE_*.
struct ScriptSettings {
  std::string mixed_precision = "no";
  bool ipex = false, debug = false, cpu_affinity = false;
  std::string dynamo_backend = "no", dynamo_mode = "default";
  bool dynamo_fullgraph = false, dynamo_dynamic = false, dynamo_regional = false;
};

ScriptSettings script_settings(const LaunchOptions& options, const ConfigSource& file, Decisions& decisions);

}  // namespace hearth::launch
