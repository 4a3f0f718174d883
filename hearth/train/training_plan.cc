#include "hearth/train/training_plan.h"

#include <cmath>

#include "hearth/base/error.h"
#include "hearth/base/log.h"
#include "hearth/data/sampler.h"
#include "hearth/io/json.h"

namespace hearth {
namespace {

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

TrainingPlan make_plan(const TrainingArguments& args, const Dataset& dataset) {
  TrainingPlan plan;
  const std::int64_t batch = args.per_device_train_batch_size, window = args.gradient_accumulation_steps;
  plan.batches = args.dataloader_drop_last ? dataset.size / batch : divided_up(dataset.size, batch);
  check(plan.batches > 0, "there is nothing to train on: {} items, batches of {}", dataset.size, batch);
  check(args.train_sampling_strategy != "group_by_length" || std::ssize(dataset.lengths) == dataset.size,
        "--train_sampling_strategy group_by_length needs the lengths of all {} items, the dataset has {}", dataset.size,
        dataset.lengths.size());
  plan.updates = divided_up(plan.batches, window);
  if (args.max_steps > 0) {
    plan.max_steps = args.max_steps;
    plan.epochs = divided_up(plan.max_steps, plan.updates);
    plan.samples = static_cast<double>(plan.max_steps * batch * window);
  } else {
    plan.max_steps = static_cast<std::int64_t>(std::ceil(args.num_train_epochs * static_cast<double>(plan.updates)));
    plan.epochs = static_cast<std::int64_t>(std::ceil(args.num_train_epochs));
    plan.samples = static_cast<double>(dataset.size) * args.num_train_epochs;
  }
  return plan;
}

void announce(const TrainingPlan& plan, const TrainingArguments& args, const Dataset& dataset,
              std::int64_t parameters) {
  const std::int64_t batch = args.per_device_train_batch_size, window = args.gradient_accumulation_steps;
  log_info("***** Running training *****");
  log_info("  Num examples = {}", dataset.size);
  log_info("  Num Epochs = {}", plan.epochs);
  log_info("  Instantaneous batch size per device = {}", batch);
  log_info("  Total train batch size (w. parallel, distributed & accumulation) = {}", batch * window);
  log_info("  Gradient Accumulation steps = {}", window);
  log_info("  Total optimization steps = {}", plan.max_steps);
  log_info("  Number of trainable parameters = {}", parameters);
}

optim::OptimizerOptions optimizer_options(const TrainingArguments& args) {
  optim::OptimizerOptions options;
  options.name = args.optim;
  options.beta1 = args.adam_beta1;
  options.beta2 = args.adam_beta2;
  options.eps = args.adam_epsilon;
  options.weight_decay = args.weight_decay;
  return options;
}

optim::ScheduleOptions schedule_options(const TrainingArguments& args, std::int64_t total_steps) {
  optim::ScheduleOptions options;
  options.name = args.lr_scheduler_type;
  options.warmup_steps = args.warmup_steps_of(total_steps);
  options.total_steps = total_steps;
  if (!args.lr_scheduler_kwargs) return options;
  const std::string flag = "--lr_scheduler_kwargs";
  const io::Json kwargs = io::parse_json(*args.lr_scheduler_kwargs, flag);
  options.num_cycles = io::get_double_or(kwargs, "num_cycles", options.num_cycles, flag);
  options.power = io::get_double_or(kwargs, "power", options.power, flag);
  options.lr_end = io::get_double_or(kwargs, "lr_end", options.lr_end, flag);
  options.timescale = io::get_int_or(kwargs, "timescale", options.timescale, flag);
  for (const auto& [key, value] : kwargs.items())
    check(key == "num_cycles" || key == "power" || key == "lr_end" || key == "timescale",
          "{}: '{}' is not known; num_cycles, power, lr_end and timescale are", flag, key);
  return options;
}

std::vector<std::int64_t> epoch_order(const TrainingArguments& args, const Dataset& dataset, std::int64_t epoch) {
  const std::int64_t seed = args.data_seed.value_or(args.seed);
  if (args.train_sampling_strategy == "sequential") return data::sequential_order(dataset.size);
  if (args.train_sampling_strategy == "group_by_length")
    return data::length_grouped_order(dataset.lengths,
                                      args.per_device_train_batch_size * args.gradient_accumulation_steps, seed, epoch);
  return data::shuffled_order(dataset.size, seed, epoch);
}

}  // namespace hearth
