#include "hearth/train/training_plan.h"

#include <algorithm>
#include <cmath>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/rounding.h"
#include "hearth/data/sampler.h"
#include "hearth/parallel/sharded_optimizer.h"

namespace hearth {
namespace {

// As Python's "{:,}": 7,477.
std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::ptrdiff_t at = std::ssize(text) - 3; at > 0; at -= 3) text.insert(static_cast<std::size_t>(at), 1, ',');
  return text;
}

std::vector<std::int64_t> lengths_of(const Dataset& dataset) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(dataset.size()));
  for (std::size_t item = 0; item < lengths.size(); ++item)
    lengths[item] = dataset.length(static_cast<std::int64_t>(item));
  return lengths;
}

}  // namespace

TrainingPlan make_plan(const TrainingArguments& args, const Dataset& dataset, std::int64_t processes) {
  TrainingPlan plan;
  plan.processes = processes;
  const std::int64_t batch = args.per_device_train_batch_size, micro_batches = args.gradient_accumulation_steps;
  const std::int64_t round = batch * processes;
  plan.batches = args.dataloader_drop_last ? dataset.size() / round : divide_up(dataset.size(), round);
  check(
      plan.batches > 0, "there is nothing to train on: {} items, batches of {} in {} process{}{}", dataset.size(),
      batch, processes, processes == 1 ? "" : "es",
      dataset.size() > 0 ? "; give a smaller --per_device_train_batch_size, or leave out --dataloader_drop_last" : "");
  plan.updates = divide_up(plan.batches, micro_batches);
  if (args.max_steps > 0) {
    plan.max_steps = args.max_steps;
    plan.epochs = divide_up(plan.max_steps, plan.updates);
    plan.samples = static_cast<double>(plan.max_steps) * static_cast<double>(round * micro_batches);
  } else {
    const double updates = args.max_steps == 0 ? 0 : args.num_train_epochs * static_cast<double>(plan.updates);
    plan.max_steps = static_cast<std::int64_t>(std::ceil(updates));
    plan.epochs = static_cast<std::int64_t>(std::ceil(args.num_train_epochs));
    plan.samples = static_cast<double>(dataset.size()) * args.num_train_epochs;
  }
  return plan;
}

void announce(const TrainingPlan& plan, const TrainingArguments& args, const Dataset& dataset,
              std::int64_t parameters) {
  const std::int64_t batch = args.per_device_train_batch_size, micro_batches = args.gradient_accumulation_steps;
  log_info("***** Running training *****");
  log_info("  Num examples = {}", grouped(dataset.size()));
  log_info("  Num Epochs = {}", grouped(plan.epochs));
  log_info("  Instantaneous batch size per device = {}", grouped(batch));
  log_info("  Total train batch size (w. parallel, distributed & accumulation) = {}",
           grouped(batch * micro_batches * plan.processes));
  log_info("  Gradient Accumulation steps = {}", micro_batches);
  log_info("  Total optimization steps = {}", grouped(plan.max_steps));
  log_info("  Number of trainable parameters = {}", grouped(parameters));
}

optim::OptimizerOptions optimizer_options(const TrainingArguments& args) {
  optim::OptimizerOptions options;
  options.name = args.optim;
  options.beta1 = args.adam_beta1;
  options.beta2 = args.adam_beta2;
  options.eps = args.adam_epsilon;
  options.weight_decay = args.weight_decay;
  options.args = optim::parse_optimizer_args(args.optim_args.value_or(""));
  return options;
}

parallel::DataParallelOptions data_parallel_options(const TrainingArguments& args, const parallel::Team& team) {
  parallel::DataParallelOptions options;
  if (args.ddp_bucket_cap_mb) {
    options.partition.bucket_bytes = static_cast<std::size_t>(*args.ddp_bucket_cap_mb) << 20;
    options.partition.first_bucket_bytes =
        std::min(options.partition.first_bucket_bytes, options.partition.bucket_bytes);
  }
  options.wire = args.ddp_wire_dtype;
  options.partition.sharded = args.sharded_optimizer || parallel::shards_by_itself(team, args.optim, options.wire);
  return options;
}

std::vector<std::int64_t> epoch_order(const TrainingArguments& args, const Dataset& dataset, std::int64_t epoch) {
  if (std::vector<std::int64_t> own = dataset.epoch_order(args.per_device_train_batch_size, epoch); !own.empty())
    return own;
  const std::int64_t seed = args.data_seed.value_or(args.seed);
  switch (args.train_sampling_strategy) {
    case Sampling::sequential:
      return data::sequential_order(dataset.size());
    case Sampling::group_by_length:
      return data::length_grouped_order(
          lengths_of(dataset), args.per_device_train_batch_size * args.gradient_accumulation_steps, seed, epoch);
    case Sampling::random:
      break;
  }
  return data::shuffled_order(dataset.size(), seed, epoch);
}

}  // namespace hearth
