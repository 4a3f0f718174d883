#include "hearth/launch/plan/script_settings.h"

#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/launch/start/user_environment.h"

namespace hearth::launch {

ScriptSettings script_settings(const LaunchOptions& options, const ConfigSource& file, Decisions& decisions) {
  const auto either = [&](bool flag, auto member) { return flag || file.get(member).value_or(false); };
  ScriptSettings script;
  script.mixed_precision =
      decisions
          .choose<std::string>("mixed_precision",
                               {{options.mixed_precision, "--mixed_precision"},
                                {file.get(&LaunchConfig::mixed_precision), file.path()},
                                {text_in_environment("ACCELERATE_MIXED_PRECISION"), "ACCELERATE_MIXED_PRECISION"},
                                {script.mixed_precision, "by default"}})
          .value();
  check(script.mixed_precision == "no" || script.mixed_precision == "fp16" || script.mixed_precision == "bf16",
        "mixed precision '{}' is not one of no, fp16, bf16: choose one with --mixed_precision", script.mixed_precision);
  script.ipex = either(options.ipex, &LaunchConfig::ipex);
  script.debug = either(options.debug, &LaunchConfig::debug);
  script.cpu_affinity = either(options.enable_cpu_affinity, &LaunchConfig::enable_cpu_affinity);
  const auto backend = options.dynamo_backend ? options.dynamo_backend : file.get(&LaunchConfig::dynamo_backend);
  script.dynamo_backend = backend.value_or(script.dynamo_backend);
  const auto mode = options.dynamo_mode ? options.dynamo_mode : file.get(&LaunchConfig::dynamo_mode);
  script.dynamo_mode = mode.value_or(script.dynamo_mode);
  script.dynamo_fullgraph = either(options.dynamo_use_fullgraph, &LaunchConfig::dynamo_use_fullgraph);
  script.dynamo_dynamic = either(options.dynamo_use_dynamic, &LaunchConfig::dynamo_use_dynamic);
  script.dynamo_regional =
      either(options.dynamo_use_regional_compilation, &LaunchConfig::dynamo_use_regional_compilation);
  return script;
}

}  // namespace hearth::launch
