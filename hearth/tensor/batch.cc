#include "hearth/tensor/batch.h"

#include <algorithm>

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

}  // namespace hearth
