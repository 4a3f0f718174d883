#include "hearth/tasks/token_classification/entity_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "hearth/tokenizer/text.h"

namespace hearth::tasks {
namespace {

using metrics::EntityScores, metrics::EntityTypeScores, metrics::Scores;

void add(Metrics& metrics, const std::string& prefix, const Scores& scores) {
  metrics.set(prefix + "precision", scores.precision);
  metrics.set(prefix + "recall", scores.recall);
  metrics.set(prefix + "f1", scores.f1);
}

std::set<std::string> types_of(std::span<const std::string> labels) {
  std::vector<std::vector<std::string>> sentences;
  for (const std::string& label : labels) sentences.push_back({label});
  std::set<std::string> types;
  for (const metrics::Entity& entity : metrics::find_entities(sentences)) types.insert(entity.type);
  return types;
}

std::string row(std::string_view type, const Scores& scores, std::size_t width) {
  const auto padding = width - static_cast<std::size_t>(tokenizer::python::length(type));
  return fmt::format("  {}{} {:>9.4f} {:>9.4f} {:>9.4f} {:>9}\n", type, std::string(padding, ' '), scores.precision,
                     scores.recall, scores.f1, scores.support);
}

}  // namespace

Metrics entity_metrics(const EntityScores& scores, bool per_type) {
  Metrics metrics;
  const std::string prefix = per_type ? "overall_" : "";
  if (per_type)
    for (const auto& [type, of_type] : scores.types) {
      add(metrics, type + "_", of_type);
      metrics.set(type + "_number", of_type.support);
    }
  add(metrics, prefix, scores.overall);
  metrics.set(prefix + "accuracy", scores.accuracy);
  return metrics;
}

std::vector<std::string> entity_metric_names(std::span<const std::string> labels, bool per_type) {
  EntityScores scores;
  for (const std::string& type : types_of(labels)) scores.types.push_back({type, {}});
  std::vector<std::string> names{"loss"};
  for (const auto& [name, value] : entity_metrics(scores, per_type)) names.push_back(name);
  return names;
}

std::string entity_table(const EntityScores& scores) {
  if (scores.types.empty()) return "";
  constexpr std::string_view kOverall = "all types";
  std::size_t width = kOverall.size();
  for (const EntityTypeScores& type : scores.types)
    width = std::max(width, static_cast<std::size_t>(tokenizer::python::length(type.type)));
  std::string text = fmt::format("***** entities by type *****\n  {:<{}} {:>9} {:>9} {:>9} {:>9}\n", "", width,
                                 "precision", "recall", "f1", "number");
  for (const auto& [type, of_type] : scores.types) text += row(type, of_type, width);
  return text + row(kOverall, scores.overall, width);
}

}  // namespace hearth::tasks
