#include "hearth/tasks/qa_collator.h"

#include <algorithm>
#include <vector>

#include "hearth/base/error.h"

namespace hearth::tasks {

QaCollator::QaCollator(const QaFeatures& features, const QaCollatorOptions& options)
    : features_(features), options_(options) {
  check(options.pad_to_multiple_of > 0, "[QaCollator] cannot pad to a multiple of {}", options.pad_to_multiple_of);
}

Batch QaCollator::operator()(std::span<const std::int64_t> indices, std::uint32_t first_sample) const {
  Batch batch;
  std::vector<std::int32_t> types;
  std::vector<std::int64_t> start_positions, end_positions;
  const std::int64_t length = padded_length(indices);
  std::uint32_t sample = first_sample;
  for (const std::int64_t feature : indices) {
    check(feature >= 0 && feature < features_.size(), "[QaCollator] feature {} of {}", feature, features_.size());
    const auto type_ids = features_.type_ids_of(feature);
    types.assign(type_ids.begin(), type_ids.end());
    batch.append(features_.ids_of(feature), types, sample++, length, options_.pad_id);
    if (!features_.has_labels()) continue;
    start_positions.push_back(start_position(feature));
    end_positions.push_back(features_.end_positions[static_cast<std::size_t>(feature)]);
  }
  if (features_.has_labels()) {
    batch.labels = {{"start_positions", std::move(start_positions)}, {"end_positions", std::move(end_positions)}};
  }
  return batch;
}

std::int64_t QaCollator::padded_length(std::span<const std::int64_t> indices) const {
  if (options_.padding == Padding::packed) return 0;
  if (options_.padding == Padding::max_length) return options_.max_seq_length;
  std::int64_t longest = 0;
  for (const std::int64_t feature : indices) longest = std::max(longest, features_.length(feature));
  const std::int64_t unit = options_.pad_to_multiple_of;
  return (longest + unit - 1) / unit * unit;
}

// An answer that begins in the last token of the context is labelled with the last position of the window. run_qa.py
// looks for it after padding to max_seq_length, but before padding to the longest sequence of the batch.
std::int64_t QaCollator::start_position(std::int64_t feature) const {
  const std::int64_t start = features_.start_positions[static_cast<std::size_t>(feature)];
  const bool at_end = start == features_.length(feature) - 1;
  return options_.padding == Padding::max_length && at_end ? options_.max_seq_length - 1 : start;
}

}  // namespace hearth::tasks
