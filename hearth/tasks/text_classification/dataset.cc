#include "hearth/tasks/text_classification/dataset.h"

#include <algorithm>

namespace hearth::tasks {
namespace {

// The targets of a row.
std::span<const float> targets_of(const TextFeatures& features, std::int64_t row) {
  const std::size_t width =
      features.labels.targets.size() / static_cast<std::size_t>(std::max<std::int64_t>(1, features.rows()));
  return features.labels.targets.view().subspan(static_cast<std::size_t>(row) * width, width);
}

}  // namespace

BatchPtr TextDataset::collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const {
  std::vector<std::int64_t> rows;
  for (const std::int64_t item : items) rows.push_back(row_of(item));
  Batch batch = tasks::collate(*features_, rows, first_sample, options_);
  const TextLabels& labels = features_->labels;
  for (const std::int64_t row : rows) {
    if (!labels.classes.empty()) batch.labels["labels"].push_back(labels.classes[static_cast<std::size_t>(row)]);
    if (labels.targets.empty()) continue;
    const auto targets = targets_of(*features_, row);
    std::vector<float>& all = batch.float_labels["labels"];
    all.insert(all.end(), targets.begin(), targets.end());
  }
  return shared_batch(std::move(batch));
}

TextLabels TextDataset::labels() const {
  if (order_.empty()) return features_->labels;
  TextLabels taken;
  for (const std::int64_t row : order_) {
    if (!features_->labels.classes.empty())
      taken.classes.push_back(features_->labels.classes[static_cast<std::size_t>(row)]);
    taken.targets.append(targets_of(*features_, row));
  }
  return taken;
}

}  // namespace hearth::tasks
