#include "hearth/train/trainer_state.h"

#include <fmt/format.h>

#include "hearth/base/error.h"
#include "hearth/io/file.h"

namespace hearth {
namespace {

// transformers' Trainer looks this entry up whenever it saves a checkpoint, so it can resume from one of Hearth.
io::Json trainer_control() {
  io::Json flags;
  for (const char* name : {"should_training_stop", "should_epoch_stop", "should_save", "should_evaluate", "should_log"})
    flags[name] = false;
  return {{"args", flags}, {"attributes", io::Json::object()}};
}

}  // namespace

io::Json TrainerState::to_json() const {
  io::Json json;
  json["best_global_step"] = best_metric ? io::Json(best_global_step) : io::Json();
  json["best_metric"] = best_metric ? io::Json(*best_metric) : io::Json();
  json["best_model_checkpoint"] = best_model_checkpoint.empty() ? io::Json() : io::Json(best_model_checkpoint);
  json["epoch"] = epoch;
  json["eval_steps"] = eval_steps;
  json["global_step"] = global_step;
  json["is_hyper_param_search"] = false;
  json["is_local_process_zero"] = true;
  json["is_world_process_zero"] = true;
  json["log_history"] = log_history;
  json["logging_steps"] = logging_steps;
  json["max_steps"] = max_steps;
  json["num_input_tokens_seen"] = num_input_tokens_seen;
  json["num_train_epochs"] = num_train_epochs;
  json["save_steps"] = save_steps;
  json["stateful_callbacks"] = {{"TrainerControl", trainer_control()},
                                {"hearth",
                                 {{"evaluation_skipped", evaluation_skipped},
                                  {"evaluations_without_gain", evaluations_without_gain},
                                  {"loss_sum", loss_sum},
                                  {"loss_since_log", loss_since_log},
                                  {"steps_since_log", steps_since_log},
                                  {"world_size", world_size}}}};
  json["total_flos"] = total_flos;
  json["train_batch_size"] = train_batch_size;
  json["trial_name"] = nullptr;
  json["trial_params"] = nullptr;
  return json;
}

TrainerState TrainerState::from_json(const io::Json& json, const std::string& file) {
  TrainerState state;
  state.global_step = io::get_int(json, "global_step", file);
  state.max_steps = io::get_int(json, "max_steps", file);
  state.epoch = io::get_double(json, "epoch", file);
  state.num_train_epochs = io::get_int(json, "num_train_epochs", file);
  state.total_flos = io::get_double(json, "total_flos", file);
  state.num_input_tokens_seen = io::get_int_or(json, "num_input_tokens_seen", 0, file);
  const auto steps = [&](const char* key) {  // the Trainer writes a single step as 1.0
    return static_cast<std::int64_t>(io::get_double_or(json, key, 0, file));
  };
  state.logging_steps = steps("logging_steps");
  state.eval_steps = steps("eval_steps");
  state.save_steps = steps("save_steps");
  state.train_batch_size = io::get_int_or(json, "train_batch_size", 0, file);
  if (json.contains("best_metric") && !json["best_metric"].is_null()) {
    state.best_metric = io::get_double(json, "best_metric", file);
    state.best_global_step = io::get_int_or(json, "best_global_step", 0, file);
    state.best_model_checkpoint = io::get_string_or(json, "best_model_checkpoint", "", file);
  }
  if (json.contains("log_history")) state.log_history = json["log_history"];
  if (json.contains("stateful_callbacks") && json["stateful_callbacks"].contains("hearth")) {
    const io::Json& own = json["stateful_callbacks"]["hearth"];
    state.evaluation_skipped = io::get_bool_or(own, "evaluation_skipped", false, file);
    state.evaluations_without_gain = io::get_int_or(own, "evaluations_without_gain", 0, file);
    state.loss_sum = io::get_double_or(own, "loss_sum", 0, file);
    state.loss_since_log = io::get_double_or(own, "loss_since_log", 0, file);
    state.steps_since_log = io::get_int_or(own, "steps_since_log", 0, file);
    state.world_size = io::get_int_or(own, "world_size", 0, file);
  }
  return state;
}

void TrainerState::save(const std::filesystem::path& folder) const {
  io::replace_file(folder / "trainer_state.json", io::dump_json(to_json(), 2, true) + "\n");
}

TrainerState TrainerState::load(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "trainer_state.json";
  return from_json(io::read_json(file), file.string());
}

std::string changed_settings(const TrainerState& stored, const TrainerState& now) {
  std::string changes;
  const auto compare = [&](std::string_view name, std::int64_t before, std::int64_t after) {
    if (before != 0 && before != after)
      changes += fmt::format("{}{} {} -> {}", changes.empty() ? "" : ", ", name, before, after);
  };
  compare("train_batch_size", stored.train_batch_size, now.train_batch_size);
  compare("world_size", stored.world_size, now.world_size);
  compare("logging_steps", stored.logging_steps, now.logging_steps);
  compare("eval_steps", stored.eval_steps, now.eval_steps);
  compare("save_steps", stored.save_steps, now.save_steps);
  return changes;
}

}  // namespace hearth
