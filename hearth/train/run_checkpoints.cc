#include "hearth/train/run_checkpoints.h"

#include <fmt/ranges.h>

#include "hearth/base/error.h"
#include "hearth/base/log.h"
#include "hearth/io/checkpoint_folders.h"
#include "hearth/io/folder_checksums.h"
#include "hearth/io/json.h"
#include "hearth/io/torch_file.h"
#include "hearth/parallel/broadcast_weights.h"
#include "hearth/train/changed_settings.h"
#include "hearth/train/output_dir.h"
#include "hearth/train/training_plan.h"

namespace hearth {

namespace {

// The --learning_rate of a checkpoint of the Trainer, if it says it.
std::optional<double> trainer_learning_rate(const std::filesystem::path& checkpoint) {
  const std::filesystem::path file = checkpoint / "scheduler.pt";
  if (!std::filesystem::exists(file)) return std::nullopt;
  const io::Json scheduler = io::read_torch_as_json(file);
  const auto rates = scheduler.find("base_lrs");
  if (rates == scheduler.end() || !rates->is_array() || rates->empty() || !rates->front().is_number())
    return std::nullopt;
  return rates->front().get<double>();
}

}  // namespace

RunCheckpoints::RunCheckpoints(TrainerCore& core, const SavedProgress& progress, const LearningRate& learning_rate)
    : core_(core), progress_(progress), learning_rate_(learning_rate) {
  core_.keeper = CheckpointKeeper(core.args.output_dir, core.args.save_total_limit);
}

void RunCheckpoints::resume(const std::filesystem::path& checkpoint, std::int64_t max_steps) {
  load_progress(progress_, checkpoint);
  core_.keeper.resume(core_.state, checkpoint, former_checkpoints(core_.args, checkpoint));
  log_info("resuming from {}: step {} of {}", checkpoint.string(), core_.state.global_step, max_steps);
}

void RunCheckpoints::warn_of_other_settings(const TrainerState& stored, const std::filesystem::path& checkpoint) const {
  std::vector<std::string> changes = changed_settings(stored, core_.state);
  if (const std::filesystem::path file = checkpoint / "training_args.json"; std::filesystem::exists(file)) {
    for (std::string& change : changed_flags(io::read_json(file), core_.options.flags))
      changes.push_back(std::move(change));
  } else if (const auto rate = trainer_learning_rate(checkpoint); rate && *rate != core_.args.learning_rate) {
    changes.push_back(fmt::format("learning_rate {} -> {}", *rate, core_.args.learning_rate));
  }
  if (!changes.empty())
    log_warning("settings differ from those of the checkpoint that this run resumes from: {}",
                fmt::join(changes, ", "));
}

void RunCheckpoints::save(bool only_model) {
  const optim::Optimizer::State optimizer =
      only_model ? optim::Optimizer::State{} : progress_.optimizer.state();  // all processes take part
  if (core_.saves()) {
    core_.keeper.save(core_.state, [&](const std::filesystem::path& folder) {
      core_.save_model(folder);
      if (only_model) {
        core_.state.save(folder);
      } else {
        save_progress(progress_, optimizer, folder, torch_format());
      }
    });
  } else {
    core_.keeper.note(core_.state.global_step);
  }
  core_.callbacks.call(&TrainerCallback::on_save, core_.progress(),
                       std::filesystem::path(core_.args.output_dir) / io::checkpoint_name(core_.state.global_step));
}

std::optional<TorchFormat> RunCheckpoints::torch_format() const {
  const TrainingArguments& args = core_.args;
  if (args.save_format == SaveFormat::safetensors) return std::nullopt;
  return TorchFormat{.optimizer = optimizer_options(args),
                     .initial_lr = args.learning_rate,
                     .lr = learning_rate_.after(progress_.optimizer.steps()),
                     .seed = args.seed,
                     .as_version_5 = args.save_format == SaveFormat::pytorch_v5};
}

void RunCheckpoints::load_best_model() const {
  core_.team().barrier();  // ranks that share their weights must not read them any longer
  if (core_.team().is_first()) load_best_weights();
  parallel::broadcast_weights(core_.model->parameters(), core_.team());
}

void RunCheckpoints::load_best_weights() const {
  const std::string& best = core_.state.best_model_checkpoint;
  if (!std::filesystem::exists(best)) {
    log_warning("the best checkpoint{} does not exist: the model keeps the weights of the last step",
                best.empty() ? "" : ", " + best + ",");
    return;
  }
  log_info("loading the best model, {}", best);
  try {
    io::verify_checksums(best);
    core_.model->load_weights(best);
  } catch (const Error& error) {
    log_warning("the best checkpoint cannot be loaded, and the model keeps the weights of the last step: {}",
                error.what());
  }
}

}  // namespace hearth
