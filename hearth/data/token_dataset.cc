#include "hearth/data/token_dataset.h"

#include "hearth/base/check.h"

namespace hearth {

void TokenDataset::add(std::span<const std::int32_t> ids, std::span<const std::int32_t> type_ids,
                       std::optional<std::int64_t> label) {
  check(!ids.empty(), "[TokenDataset] text {} has no tokens", size());
  check(type_ids.empty() || type_ids.size() == ids.size(), "[TokenDataset] text {} has {} tokens but {} type ids",
        size(), ids.size(), type_ids.size());
  check(items_.empty() || items_.front().label.has_value() == label.has_value(),
        "[TokenDataset] text {} has {} label, unlike those before it", size(), label ? "a" : "no");
  Item item{{ids.begin(), ids.end()}, {type_ids.begin(), type_ids.end()}, label};
  item.type_ids.resize(ids.size());
  items_.push_back(std::move(item));
}

std::int64_t TokenDataset::length(std::int64_t item) const {
  return static_cast<std::int64_t>(items_.at(static_cast<std::size_t>(item)).ids.size());
}

BatchPtr TokenDataset::collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const {
  Batch batch;
  for (const std::int64_t i : items) {
    check(i >= 0 && i < size(), "[TokenDataset] there is no item {} of {}", i, size());
    const Item& item = items_[static_cast<std::size_t>(i)];
    batch.append(item.ids, item.type_ids, first_sample++);
    if (item.label) batch.labels["labels"].push_back(*item.label);
  }
  return shared_batch(std::move(batch));
}

}  // namespace hearth
