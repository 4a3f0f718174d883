#pragma once

#include <cstdint>
#include <vector>

#include "hearth/data/dataset.h"
#include "hearth/nn/model.h"
#include "hearth/parallel/team.h"
#include "hearth/train/training_step.h"

// --auto_find_batch_size: which batches fit into memory.
namespace hearth {

// The items in order of their length, longest first.
std::vector<std::int64_t> by_length(const Dataset& data);

// The largest of `batch`, its half, and so on, with which forward and backward passes over the items that need the most
// memory fit into the memory of every rank. The passes change no weight. If not even one item fits, a ResourceError.
std::int64_t find_batch_size(nn::Model& model, const Dataset& data, std::int64_t batch, const StepOptions& options,
                             const parallel::Team& team);

}  // namespace hearth
