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

// The logits of all features, gathered batch by batch.
class QaLogitsTable {
 public:
  explicit QaLogitsTable(std::int64_t features);

  // `items`: the features of the batch.
  void add(std::span<const std::int64_t> items, const Batch& batch, const nn::ModelOutput& output);
  // Brings what the members of a team have added together, on the first of them.
  void gather(const parallel::Team& team);
  // Good as long as this is.
  std::vector<QaLogits> all() const;

 private:
  std::string packed() const;
  void unpack(std::string_view bytes);

  std::vector<std::vector<float>> starts_, ends_;
};

}  // namespace hearth::tasks
