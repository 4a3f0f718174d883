#include "hearth/tasks/token_classification/dataset.h"

#include <algorithm>
#include <vector>

namespace hearth::tasks {

BatchPtr TokenDataset::collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const {
  Batch batch = tasks::collate(*features_, items, first_sample, options_);
  if (features_->is_labelled) {
    std::vector<std::int64_t>& labels = batch.labels["labels"];
    labels.assign(static_cast<std::size_t>(batch.tokens()), kNoLabel);  // stays so on padding
    for (std::size_t s = 0; s < items.size(); ++s)
      std::ranges::copy(features_->labels_of(items[s]), labels.begin() + batch.starts[s]);
  }
  return shared_batch(std::move(batch));
}

}  // namespace hearth::tasks
