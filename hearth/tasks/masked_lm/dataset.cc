#include "hearth/tasks/masked_lm/dataset.h"

#include <algorithm>
#include <random>
#include <vector>

namespace hearth::tasks {

BatchPtr MaskedDataset::collate_in_epoch(std::int64_t epoch, std::span<const std::int64_t> items,
                                         std::uint32_t first_sample) const {
  Batch batch = tasks::collate(rows_, items, first_sample, options_);
  std::vector<std::int64_t>& labels = batch.labels["labels"];
  labels.assign(static_cast<std::size_t>(batch.tokens()), kNotMasked);  // stays so on padding
  for (std::size_t s = 0; s < items.size(); ++s) {
    std::mt19937 random = mask_generator(seed_, epoch, items[s]);
    const MaskedSequence masked = (*masking_)(rows_.ids_of(items[s]), random);
    std::ranges::copy(masked.ids, batch.input_ids.begin() + batch.starts[s]);
    std::ranges::copy(masked.labels, labels.begin() + batch.starts[s]);
  }
  return shared_batch(std::move(batch));
}

}  // namespace hearth::tasks
