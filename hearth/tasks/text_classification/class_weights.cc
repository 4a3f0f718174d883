#include "hearth/tasks/text_classification/class_weights.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "hearth/base/check.h"
#include "hearth/tasks/common/name_list.h"

namespace hearth::tasks {
namespace {

float weight_in(const std::string& word) {
  float weight = 0;
  const char* const end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, weight);
  check(read.ec == std::errc{} && read.ptr == end && weight >= 0,
        "--class_weights has '{}'; give balanced, none, or a number from 0 on for each label, with commas between them",
        word);
  return weight;
}

std::vector<std::int64_t> counts_of(const TextProblem& problem, const TextLabels& train) {
  const auto labels = static_cast<std::size_t>(problem.labels.size());
  std::vector<std::int64_t> counts(labels);
  for (const std::int64_t label : train.classes) ++counts[static_cast<std::size_t>(label)];
  for (std::size_t cell = 0; cell < train.targets.size(); ++cell) counts[cell % labels] += train.targets[cell] > 0;
  return counts;
}

std::vector<float> balanced_weights(const TextProblem& problem, const TextLabels& train) {
  const std::vector<std::int64_t> counts = counts_of(problem, train);
  const bool several = problem.has_several_labels();
  const auto rows = static_cast<double>(several ? train.targets.size() / counts.size() : train.classes.size());
  double occurring = 0;
  for (const std::int64_t count : counts) occurring += count > 0;
  std::vector<float> weights;
  for (const std::int64_t whole : counts) {
    const auto count = static_cast<double>(whole);
    const double weight = whole == 0 ? 1 : several ? (rows - count) / count : rows / (occurring * count);
    weights.push_back(static_cast<float>(weight));
  }
  return weights;
}

}  // namespace

ClassWeights parse_class_weights(const std::string& text) {
  if (text == "none") return {};
  if (text == "balanced") return {ClassWeights::Kind::balanced};
  ClassWeights weights{ClassWeights::Kind::given};
  for (const std::string& word : names_in(text)) weights.given.push_back(weight_in(word));
  check(!weights.given.empty(), "--class_weights is empty; give balanced, none, or a number for each label");
  check(std::ranges::any_of(weights.given, [](float weight) { return weight > 0; }),
        "--class_weights {} has only zeros, so that no text would count; give a number above 0 for some labels", text);
  return weights;
}

std::vector<float> weights_by_label(const ClassWeights& weights, const TextProblem& problem, const TextLabels& train) {
  if (weights.kind == ClassWeights::Kind::none) return {};
  if (weights.kind == ClassWeights::Kind::balanced) return balanced_weights(problem, train);
  check(std::ssize(weights.given) == problem.labels.size(),
        "--class_weights has {} numbers, but there are {} labels: {}; give one number per label, in this order",
        weights.given.size(), problem.labels.size(), fmt::join(problem.labels.names(), ", "));
  return weights.given;
}

}  // namespace hearth::tasks
