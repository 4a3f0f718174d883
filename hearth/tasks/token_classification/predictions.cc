#include "hearth/tasks/token_classification/predictions.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "hearth/base/check.h"
#include "hearth/io/file.h"

namespace hearth::tasks {
namespace {

// The names of label(token) for all tokens of a row that have a label.
template <class Label>
std::vector<std::string> names_of(const TokenFeatures& features, std::int64_t row, const LabelMap& labels,
                                  const Label& label) {
  const auto truth = features.labels_of(row);
  std::vector<std::string> names;
  for (std::size_t token = 0; token < truth.size(); ++token)
    if (truth[token] != kNoLabel) names.push_back(labels.name(label(token)));
  return names;
}

}  // namespace

std::vector<float> kept_labels(std::int64_t sequence, const Batch& batch, const nn::ModelOutput& output) {
  const Tensor& logits = output.logits_named("logits");  // (T, labels)
  const auto s = static_cast<std::size_t>(sequence);
  const auto labels = static_cast<std::size_t>(logits.row_size());
  std::vector<float> best;
  for (std::int64_t token = 0; token < batch.key_counts[s]; ++token) {
    const std::span row(logits.data<float>() + (batch.starts[s] + token) * logits.row_size(), labels);
    best.push_back(static_cast<float>(std::ranges::max_element(row) - row.begin()));
  }
  return best;
}

std::vector<std::vector<std::string>> true_tags(const TokenFeatures& features, const LabelMap& labels) {
  std::vector<std::vector<std::string>> tags;
  for (std::int64_t row = 0; row < features.rows(); ++row)
    tags.push_back(names_of(features, row, labels, [&](std::size_t token) { return features.labels_of(row)[token]; }));
  return tags;
}

std::vector<std::vector<std::string>> predicted_tags(const TokenFeatures& features, const ItemValues& kept,
                                                     const LabelMap& labels) {
  std::vector<std::vector<std::string>> tags;
  for (std::int64_t row = 0; row < features.rows(); ++row) {
    const auto best = kept[row];
    check(std::ssize(best) == features.length(row), "[predicted_tags] {} labels for {} tokens", best.size(),
          features.length(row));
    tags.push_back(
        names_of(features, row, labels, [&](std::size_t token) { return static_cast<std::int64_t>(best[token]); }));
  }
  return tags;
}

void write_tags(const std::vector<std::vector<std::string>>& tags, const std::filesystem::path& file) {
  std::string text;
  for (const std::vector<std::string>& sentence : tags) text += fmt::format("{}\n", fmt::join(sentence, " "));
  io::create_directories(file.parent_path());
  io::replace_file(file, text);
}

}  // namespace hearth::tasks
