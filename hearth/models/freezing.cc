#include "hearth/models/freezing.h"

#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "hearth/base/check.h"
#include "hearth/base/log.h"

namespace hearth::models {
namespace {

bool matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

// Layers that share their parameters are frozen together or not at all.
void check_shared_layers(std::int64_t frozen, const Family& family, const nn::TransformerConfig& config) {
  const auto name = [&](std::int64_t layer) { return nn::layer_name(layer, config, *family.names); };
  std::map<std::string, std::int64_t> last_runs;
  for (std::int64_t layer = 0; layer < config.layers; ++layer) last_runs[name(layer)] = layer;
  std::vector<std::int64_t> ends{0};  // numbers of layers behind which no earlier layer runs again
  for (std::int64_t layer = 0, end = 0; layer < config.layers; ++layer) {
    end = std::max(end, last_runs[name(layer)]);
    if (end == layer) ends.push_back(layer + 1);
  }
  check(
      std::ranges::find(ends, frozen) != ends.end(),
      "--freeze_layers {}: layers of this model share their parameters, so only these numbers of layers can be frozen: "
      "{}",
      frozen, fmt::join(ends, ", "));
}

std::vector<std::string> patterns_of_layers(std::int64_t layers, std::string_view prefix, const Family& family,
                                            const nn::TransformerConfig& config) {
  check(layers >= 0 && layers <= config.layers, "--freeze_layers {}: the model has {} layers", layers, config.layers);
  check_shared_layers(layers, family, config);
  std::vector<std::string> patterns{fmt::format("{}embeddings.*", prefix)};
  if (config.embedding > 0) patterns.push_back(fmt::format("{}{}.*", prefix, family.names->embedding_projection));
  for (std::int64_t layer = 0; layer < layers; ++layer)
    patterns.push_back(fmt::format("{}{}.*", prefix, nn::layer_name(layer, config, *family.names)));
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
