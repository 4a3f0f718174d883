#include "hearth/tasks/text_classification/samples.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "hearth/tasks/common/samples.h"

namespace hearth::tasks {
namespace {

std::string names_of(std::span<const std::uint8_t> flags, const LabelMap& labels) {
  std::vector<std::string> names;
  for (std::size_t label = 0; label < flags.size(); ++label)
    if (flags[label] != 0) names.push_back(labels.names()[label]);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::vector<SamplePrediction> text_samples(const TextProblem& problem, const TextDataset& dataset,
                                           const TextPredictions& predicted, const tokenizer::Tokenizer& tokenizer) {
  if (problem.is_regression()) return {};
  const TextLabels truth = dataset.labels();
  const std::vector<std::uint8_t> flags = problem.has_several_labels() ? truth.flags() : std::vector<std::uint8_t>{};
  const auto width = static_cast<std::size_t>(problem.labels.size());
  const auto label = [&](std::int64_t item, bool expected) {
    const auto at = static_cast<std::size_t>(item);
    if (problem.has_several_labels())
      return names_of(std::span(expected ? flags : predicted.flags).subspan(at * width, width), problem.labels);
    return problem.labels.name(expected ? truth.classes[at] : predicted.classes[at]);
  };
  const auto right = [&](std::int64_t item) { return label(item, true) == label(item, false); };
  std::vector<SamplePrediction> samples;
  for (const std::int64_t item : sample_items(dataset.size(), kSamples, right))
    samples.push_back(
        {text_of_row(dataset.rows(), item, tokenizer), "", label(item, true), label(item, false), right(item)});
  return samples;
}

}  // namespace hearth::tasks
