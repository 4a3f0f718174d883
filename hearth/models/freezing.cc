#include "hearth/models/freezing.h"

#include <fnmatch.h>

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/base/log.h"

namespace hearth::models {
namespace {

bool matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

std::vector<std::string> patterns_of_layers(std::int64_t layers, std::string_view prefix, const Family& family,
                                            const nn::TransformerConfig& config) {
  check(layers >= 0 && layers <= config.layers, "--freeze_layers {}: the model has {} layers", layers, config.layers);
  std::vector<std::string> patterns{fmt::format("{}embeddings.*", prefix)};
  for (std::int64_t layer = 0; layer < layers; ++layer)
    patterns.push_back(fmt::format("{}{}.{}.*", prefix, family.names->layers, layer));
  return patterns;
}

void check_matches(const std::string& pattern, const ParameterStore& parameters) {
  const auto is_match = [&](const Parameter::Part& part) { return matches(pattern, part.name); };
  for (const auto& parameter : parameters.parameters())
    if (std::ranges::any_of(parameter->parts, is_match)) return;
  const auto& all = parameters.parameters();
  fail(
      "--freeze '{}' matches no parameter of this model; its parameters have names such as {} and {}, so try a pattern "
      "such as '*.layer.0.*'",
      pattern, all.front()->parts.front().name, all[all.size() / 2]->parts.front().name);
}

}  // namespace

void freeze(ParameterStore& parameters, const Freezing& freezing, std::string_view prefix, const Family& family,
            const nn::TransformerConfig& config) {
  for (const std::string& pattern : freezing.patterns) check_matches(pattern, parameters);
  std::vector<std::string> patterns = freezing.patterns;
  if (freezing.layers)
    for (std::string& pattern : patterns_of_layers(*freezing.layers, prefix, family, config))
      patterns.push_back(std::move(pattern));
  if (patterns.empty()) return;
  parameters.freeze([&](std::string_view name) {
    return std::ranges::any_of(patterns,
                               [&](const std::string& pattern) { return matches(pattern, std::string(name)); });
  });
  const std::int64_t all = parameters.element_count(), trainable = parameters.trainable_count();
  check(trainable > 0, "--freeze and --freeze_layers leave nothing to train: all {} parameters are frozen", all);
  log_info("frozen: {} of {} weights; {} are trained", all - trainable, all, trainable);
}

}  // namespace hearth::models
