#include "hearth/tasks/question_answering/dataset.h"

#include <vector>

namespace hearth::tasks {

BatchPtr QaDataset::collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const {
  Batch batch = tasks::collate(*features_, items, first_sample, options_);
  if (features_->has_labels()) {
    std::vector<std::int64_t>&starts = batch.labels["start_positions"], &ends = batch.labels["end_positions"];
    for (const std::int64_t feature : items) {
      starts.push_back(start_position(feature));
      ends.push_back(features_->end_positions[static_cast<std::size_t>(feature)]);
    }
  }
  return shared_batch(std::move(batch));
}

// An answer that begins in the last token of the context is labelled with the last position of the window. run_qa.py
// looks for it after padding to max_seq_length, but before padding to the longest sequence of the batch.
std::int64_t QaDataset::start_position(std::int64_t feature) const {
  const std::int64_t start = features_->start_positions[static_cast<std::size_t>(feature)];
  const bool at_end = start == features_->length(feature) - 1;
  return options_.padding == Padding::max_length && at_end ? options_.max_seq_length - 1 : start;
}

}  // namespace hearth::tasks
