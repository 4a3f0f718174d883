#include "hearth/tensor/batch.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "hearth/base/check.h"

namespace hearth {

void Batch::append(std::span<const std::int32_t> ids, std::span<const std::int32_t> type_ids, std::uint32_t sample,
                   std::int64_t length, std::int32_t pad_id) {
  check(type_ids.size() == ids.size(), "[Batch] {} token types for {} tokens", type_ids.size(), ids.size());
  const auto count = static_cast<std::int64_t>(ids.size());
  const auto padding = static_cast<std::size_t>(std::max<std::int64_t>(0, length - count));
  input_ids.insert(input_ids.end(), ids.begin(), ids.end());
  input_ids.insert(input_ids.end(), padding, pad_id);
  token_type_ids.insert(token_type_ids.end(), type_ids.begin(), type_ids.end());
  token_type_ids.insert(token_type_ids.end(), padding, 0);
  starts.push_back(static_cast<std::int64_t>(input_ids.size()));
  row_starts.push_back(sequences() + 1);
  key_counts.push_back(count);
  samples.push_back(sample);
}

std::vector<std::int32_t> Batch::position_ids() const {
  std::vector<std::int32_t> positions(input_ids.size());
  for (std::size_t s = 0; s < key_counts.size(); ++s)
    std::iota(positions.begin() + starts[s], positions.begin() + starts[s + 1], 0);
  return positions;
}

void Batch::check_consistent() const {
  const std::size_t count = key_counts.size();
  check(starts.size() == count + 1 && row_starts.size() == count + 1 && samples.size() == count,
        "[Batch] {} sequences by key_counts, {} by starts, {} by row_starts and {} by samples", count,
        std::ssize(starts) - 1, std::ssize(row_starts) - 1, samples.size());
  check(starts.front() == 0 && static_cast<std::int64_t>(input_ids.size()) == tokens(),
        "[Batch] {} input_ids, but starts go from {} to {}", input_ids.size(), starts.front(), tokens());
  for (std::size_t s = 0; s < count; ++s) {
    const std::int64_t length = starts[s + 1] - starts[s];
    check(length >= 0 && 0 <= key_counts[s] && key_counts[s] <= length && row_starts[s] == static_cast<std::int64_t>(s),
          "[Batch] sequence {} has {} tokens by starts and {} keys by key_counts, and row_starts puts it at row {}", s,
          length, key_counts[s], row_starts[s]);
  }
  check(row_starts.back() == sequences(), "[Batch] row_starts ends with {} for {} sequences", row_starts.back(), count);
  check(texts_per_item >= 1 && sequences() % texts_per_item == 0, "[Batch] {} sequences cannot be items of {} texts",
        count, texts_per_item);
  check(prompt_tokens.empty() || prompt_tokens.size() == count, "[Batch] {} prompt_tokens for {} sequences",
        prompt_tokens.size(), count);
}

Batch Batch::part(std::int64_t begin, std::int64_t end) const {
  check(0 <= begin && begin <= end && end <= sequences(), "[Batch] sequences {} to {} of {}", begin, end, sequences());
  Batch part;
  for (auto s = static_cast<std::size_t>(begin); s < static_cast<std::size_t>(end); ++s) {
    const auto first = static_cast<std::size_t>(starts[s]), length = static_cast<std::size_t>(starts[s + 1]) - first;
    part.append(std::span(input_ids).subspan(first, length), std::span(token_type_ids).subspan(first, length),
                samples[s]);
    part.key_counts.back() = key_counts[s];
    if (!prompt_tokens.empty()) part.prompt_tokens.push_back(prompt_tokens[s]);
  }
  return part;
}

}  // namespace hearth
