#pragma once

#include <cstdint>
#include <vector>

#include "hearth/data/dataset.h"
#include "hearth/optim/optimizer.h"
#include "hearth/parallel/distributed_data_parallel.h"
#include "hearth/train/training_arguments.h"

// The number of steps, epochs and samples of a run, from its arguments and data.
namespace hearth {

struct TrainingPlan {
  std::int64_t processes = 1;
  std::int64_t batches = 0, updates = 0;  // per epoch and process
  std::int64_t epochs = 0, max_steps = 0;
  double samples = 0;  // of the whole run, in all processes
};

TrainingPlan make_plan(const TrainingArguments& args, const Dataset& dataset, std::int64_t processes);
// "***** Running training *****", as the Trainer prints it.
void announce(const TrainingPlan& plan, const TrainingArguments& args, const Dataset& dataset, std::int64_t parameters);

optim::OptimizerOptions optimizer_options(const TrainingArguments& args);
parallel::DataParallelOptions data_parallel_options(const TrainingArguments& args, const parallel::Team& team);
// The order in which an epoch visits the dataset.
std::vector<std::int64_t> epoch_order(const TrainingArguments& args, const Dataset& dataset, std::int64_t epoch);

}  // namespace hearth
