#include "hearth/train/trainer_core.h"

#include <unistd.h>

#include <utility>

#include "hearth/base/check.h"
#include "hearth/base/progress.h"
#include "hearth/io/json.h"
#include "hearth/io/torch_file.h"
#include "hearth/metrics/metrics_json.h"
#include "hearth/ops/cast.h"
#include "hearth/parallel/broadcast_weights.h"
#include "hearth/train/agreed_values.h"
#include "hearth/train/results.h"

namespace hearth {
namespace {

// pytorch_model.bin beside model.safetensors, for programs that read files of PyTorch alone.
void write_torch_weights(const ParameterStore& parameters, const std::filesystem::path& folder) {
  io::TorchWriter file(folder / "pytorch_model.bin");
  io::PickleValue::Dict weights;
  for (const NamedParameter& each : parameters.named())
    weights.items.emplace_back(each.name, file.tensor(ops::in_dtype(each.value, DType::f32)));
  file.commit(weights);
}

}  // namespace

TrainerCore::TrainerCore(std::shared_ptr<nn::Model> its_model, TrainingArguments settings, TrainerOptions its_options)
    : model(std::move(its_model)),
      args(std::move(settings)),
      options(std::move(its_options)),
      callbacks(options.callbacks, options.team),
      memory(!args.skip_memory_metrics) {
  check(model != nullptr, "[Trainer] the model is null: give it a std::make_shared of one");
  const MemoryStage stage(memory, "init");
  const Timer preparing;
  args.validate();
  if (!model->parameters().is_allocated()) model->initialise(static_cast<std::uint64_t>(args.seed));
  if (team().size() > 1 && options.train_dataset != nullptr)
    team().check_agreement(agreed_values(args, model->parameters(), *options.train_dataset));
  parallel::broadcast_weights(model->parameters(), team());
  preparation_seconds = preparing.seconds();
}

bool TrainerCore::stop_requested() const { return options.stop_requested && team().any(options.stop_requested()); }

TrainingProgress TrainerCore::progress() const {
  return {.global_step = state.global_step,
          .max_steps = state.max_steps,
          .num_train_epochs = state.num_train_epochs,
          .epoch = state.epoch,
          .best_metric = state.best_metric,
          .is_world_process_zero = team().is_first(),
          .steps = &steps};
}

ops::LossOptions TrainerCore::loss_options() const {
  ops::LossOptions loss = options.loss;
  loss.label_smoothing = static_cast<float>(args.label_smoothing_factor);
  return loss;
}

StepOptions TrainerCore::step_options() const {
  return {.compute = args.train_dtype(),
          .max_grad_norm = args.max_grad_norm,
          .seed = static_cast<std::uint64_t>(args.seed),
          .gradient_checkpointing = args.gradient_checkpointing,
          .loss = loss_options(),
          .stop_requested = options.stop_requested,
          .nan_policy = args.nan_policy,
          .checks_ops = args.uses(DebugAid::underflow_overflow)};
}

void TrainerCore::save_model(const std::filesystem::path& folder) const {
  model->save_pretrained(folder);
  if (args.save_format != SaveFormat::safetensors) write_torch_weights(model->parameters(), folder);
  if (options.save_beside) options.save_beside(folder);
}

void TrainerCore::print_line(const std::string& line) const {
  if (team().is_first()) Progress::print_line(STDOUT_FILENO, line);
}

void TrainerCore::log_row(Metrics row) {
  row.set("epoch", state.epoch);
  if (args.include_num_input_tokens_seen) {
    row.set("num_input_tokens_seen", state.num_input_tokens_seen);
    if (row.contains("loss")) {
      const double seconds = running.seconds();
      row.set("train_runtime", rounded(seconds, 4));
      row.set("train_tokens_per_second", rounded(static_cast<double>(state.num_input_tokens_seen) / seconds, 3));
    }
  }
  Metrics shown = row;
  shown.set("epoch", rounded(state.epoch, 2));
  print_line(io::dump_json(to_json(shown), io::kOneLine));
  row.set("step", state.global_step);
  state.log_history.push_back(to_json(row));
  callbacks.call(&TrainerCallback::on_log, progress(), row);
}

Metrics TrainerCore::evaluation(Trainer& trainer, const Dataset* dataset) const {
  if (dataset == nullptr && options.evaluate) return of_first_rank(options.evaluate(trainer));
  if (dataset == nullptr) dataset = options.eval_dataset.get();
  check(dataset != nullptr, "[Trainer::evaluate] there is nothing to evaluate on: give TrainerOptions an eval_dataset");
  return trainer.predict(*dataset, "eval").metrics;
}

// All processes decide by the metrics of the first one, so that they decide alike.
Metrics TrainerCore::of_first_rank(const Metrics& metrics) const {
  if (team().size() == 1) return metrics;
  const std::string name = "metrics of the first process";
  return metrics_from_json(io::parse_json(team().broadcast(io::dump_json(to_json(metrics), io::kOneLine)), name), name);
}

}  // namespace hearth
