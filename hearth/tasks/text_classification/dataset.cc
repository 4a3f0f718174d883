#include "hearth/tasks/text_classification/dataset.h"

#include <algorithm>

namespace hearth::tasks {

BatchPtr TextDataset::collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const {
  Batch batch = tasks::collate(features_->rows, items, first_sample, options_);
  const TextLabels& labels = features_->labels;
  const std::size_t width = labels.targets.size() / static_cast<std::size_t>(std::max<std::int64_t>(1, size()));
  for (const std::int64_t item : items) {
    const auto row = static_cast<std::size_t>(item);
    if (!labels.classes.empty()) batch.labels["labels"].push_back(labels.classes[row]);
    if (labels.targets.empty()) continue;
    const auto targets = std::span(labels.targets).subspan(row * width, width);
    std::vector<float>& all = batch.float_labels["labels"];
    all.insert(all.end(), targets.begin(), targets.end());
  }
  return shared_batch(std::move(batch));
}

}  // namespace hearth::tasks
