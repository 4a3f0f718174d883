#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/nn/model.h"
#include "hearth/parallel/team.h"
#include "hearth/tasks/qa_postprocess.h"
#include "hearth/tensor/batch.h"

namespace hearth::tasks {

// Collects the logits of all features, batch by batch.
class QaLogitsTable {
 public:
  explicit QaLogitsTable(std::int64_t features);

  // `items` are the indices of the features in the batch.
  void add(std::span<const std::int64_t> items, const Batch& batch, const nn::ModelOutput& output);
  // Collects the logits of all ranks on rank 0.
  void gather(const parallel::Team& team);
  // The spans are valid as long as this object.
  std::vector<QaLogits> all() const;

 private:
  std::string packed() const;
  void unpack(std::string_view bytes);

  std::vector<std::vector<float>> starts_, ends_;
};

}  // namespace hearth::tasks
