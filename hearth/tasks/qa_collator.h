#pragma once

#include <cstdint>
#include <span>

#include "hearth/tasks/qa_features.h"
#include "hearth/tensor/batch.h"

namespace hearth::tasks {

enum class Padding {
  packed,
  longest,
  max_length
};  // no padding; to the longest sequence of the batch; to max_seq_length

struct QaCollatorOptions {
  Padding padding = Padding::packed;
  std::int64_t max_seq_length = 384;    // for Padding::max_length
  std::int64_t pad_to_multiple_of = 1;  // for Padding::longest; the Trainer uses 8 with fp16
  std::int32_t pad_id = 0;
};

// Builds batches of features, with labels if the features have them. The features must outlive the collator.
class QaCollator {
 public:
  QaCollator(const QaFeatures& features, const QaCollatorOptions& options);

  // `first_sample` is the position of the first feature in the global batch.
  Batch operator()(std::span<const std::int64_t> indices, std::uint32_t first_sample) const;

 private:
  std::int64_t padded_length(std::span<const std::int64_t> indices) const;
  std::int64_t start_position(std::int64_t feature) const;

  const QaFeatures& features_;
  QaCollatorOptions options_;
};

}  // namespace hearth::tasks
