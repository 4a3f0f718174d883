#pragma once

#include <cstdint>

#include "hearth/data/dataset.h"
#include "hearth/models/pretrained.h"
#include "hearth/parallel/team.h"
#include "hearth/train/training_arguments.h"

namespace hearth::apps {

// Compares the estimated memory of a training run with the memory that its processes may take, before the model's
// weights are loaded. Returns the batch size per process: --per_device_train_batch_size or, with
// --auto_find_batch_size, the largest of its halves that fits by the estimate. If typical batches clearly cannot fit,
// it throws a ResourceError that says what would; if the longest ones may not, it warns. Every rank calls it.
std::int64_t check_memory(const models::Pretrained& model, const TrainingArguments& args, const Dataset& data,
                          const parallel::Team& team, int processes_of_host);

}  // namespace hearth::apps
