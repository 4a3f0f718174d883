#include "hearth/tasks/embedding/dataset.h"

#include <algorithm>
#include <unordered_map>

#include "hearth/base/check.h"
#include "hearth/data/distinct_order.h"
#include "hearth/data/sampler.h"

namespace hearth::tasks {
namespace {

constexpr std::int64_t kSamplerSeed = 0;  // of no_duplicates, whatever --seed is

void append(Batch& batch, const TextColumn& column, const std::vector<std::uint32_t>& samples,
            std::span<const std::int64_t> items, const CollateOptions& options) {
  const Batch part = collate(column.rows, items, 0, options);
  for (std::int64_t s = 0; s < part.sequences(); ++s) {
    const Batch one = part.part(s, s + 1);
    batch.append(one.input_ids, one.token_type_ids, samples[static_cast<std::size_t>(s)]);
    batch.key_counts.back() = one.key_counts.front();
    batch.prompt_tokens.push_back(column.prompt_tokens);
  }
}

}  // namespace

std::int64_t EmbeddingDataset::length(std::int64_t item) const {
  std::int64_t tokens = 0;
  for (const TextColumn& column : features_->columns) tokens += column.rows.length(item);
  return tokens;
}

std::vector<std::int64_t> EmbeddingDataset::epoch_order(std::int64_t batch_size, std::int64_t epoch) const {
  if (features_->distinct_texts.empty()) return {};
  const auto order = data::distinct_order(data::shuffled_order(size(), kSamplerSeed, epoch), features_->distinct_texts,
                                          features_->columns.size(), batch_size);
  check(
      order.has_value(),
      "{}: --batch_sampler no_duplicates cannot fill batches of {} records, because too many have the same texts; give "
      "a smaller --per_device_train_batch_size",
      features_->file, batch_size);
  return *order;
}

BatchPtr EmbeddingDataset::collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const {
  const auto columns = static_cast<std::uint32_t>(features_->columns.size());
  Batch batch;
  for (std::uint32_t column = 0; column < columns; ++column) {
    std::vector<std::uint32_t> samples;
    for (std::uint32_t i = 0; i < items.size(); ++i) samples.push_back((first_sample + i) * columns + column);
    append(batch, features_->columns[column], samples, items, options_);
  }
  if (std::ranges::all_of(batch.prompt_tokens, [](std::int64_t count) { return count == 0; }))
    batch.prompt_tokens.clear();
  batch.texts_per_item = columns;
  if (const std::vector<float>& labels = features_->labels; !labels.empty()) {
    const auto width = static_cast<std::ptrdiff_t>(labels.size()) / size();
    for (const std::int64_t item : items)
      batch.float_labels["labels"].insert(batch.float_labels["labels"].end(), labels.begin() + item * width,
                                          labels.begin() + (item + 1) * width);
  }
  return shared_batch(std::move(batch));
}

std::vector<std::int64_t> numbers_of_texts(const std::vector<std::vector<std::string>>& texts) {
  std::unordered_map<std::string_view, std::int64_t> numbers;
  std::vector<std::int64_t> result;
  for (std::size_t record = 0; record < texts.front().size(); ++record)
    for (const std::vector<std::string>& column : texts)
      result.push_back(numbers.try_emplace(column[record], std::ssize(numbers)).first->second);
  return result;
}

}  // namespace hearth::tasks
