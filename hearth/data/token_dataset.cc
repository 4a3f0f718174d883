#include "hearth/data/token_dataset.h"

#include <algorithm>
#include <utility>

#include "hearth/base/check.h"

namespace hearth {
namespace {

template <class Labels>
bool have_same_names(const Labels& a, const Labels& b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) { return one.first == other.first; });
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& values) {
  to.insert(to.end(), values.begin(), values.end());
}

}  // namespace

void TokenDataset::add_item(TokenItem item) {
  const std::size_t tokens = item.ids.size();
  check(tokens > 0, "[TokenDataset] text {} has no tokens", size());
  check(item.type_ids.empty() || item.type_ids.size() == tokens, "[TokenDataset] text {} has {} tokens but {} type ids",
        size(), tokens, item.type_ids.size());
  for (const auto& [name, values] : item.labels)
    check(values.size() == 1 || values.size() == tokens,
          "[TokenDataset] text {} has {} {}, but needs one, or one for each of its {} tokens", size(), values.size(),
          name, tokens);
  check(items_.empty() || (have_same_names(items_.front().labels, item.labels) &&
                           have_same_names(items_.front().float_labels, item.float_labels)),
        "[TokenDataset] text {} has other labels than those before it", size());
  item.type_ids.resize(tokens);
  items_.push_back(std::move(item));
}

void TokenDataset::add(std::span<const std::int32_t> ids, std::span<const std::int32_t> type_ids,
                       std::optional<std::int64_t> label) {
  TokenItem item{{ids.begin(), ids.end()}, {type_ids.begin(), type_ids.end()}};
  if (label) item.labels["labels"].push_back(*label);
  add_item(std::move(item));
}

std::int64_t TokenDataset::length(std::int64_t item) const {
  return static_cast<std::int64_t>(items_.at(static_cast<std::size_t>(item)).ids.size());
}

BatchPtr TokenDataset::collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const {
  Batch batch;
  for (const std::int64_t i : items) {
    check(i >= 0 && i < size(), "[TokenDataset] there is no item {} of {}", i, size());
    const TokenItem& item = items_[static_cast<std::size_t>(i)];
    batch.append(item.ids, item.type_ids, first_sample++);
    for (const auto& [name, values] : item.labels) append(batch.labels[name], values);
    for (const auto& [name, values] : item.float_labels) append(batch.float_labels[name], values);
  }
  return shared_batch(std::move(batch));
}

}  // namespace hearth
