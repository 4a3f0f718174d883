#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hearth/nn/model.h"
#include "hearth/tasks/qa_postprocess.h"
#include "hearth/tensor/batch.h"

namespace hearth::tasks {

// The logits of all features, gathered batch by batch.
class QaLogitsTable {
 public:
  explicit QaLogitsTable(std::int64_t features);

  // `items`: the features of the batch.
  void add(std::span<const std::int64_t> items, const Batch& batch, const nn::ModelOutput& output);
  // Good as long as this is.
  std::vector<QaLogits> all() const;

 private:
  std::vector<std::vector<float>> starts_, ends_;
};

}  // namespace hearth::tasks
