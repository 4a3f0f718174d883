#include "hearth/train/trainer_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "hearth/base/check.h"
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

// No run comes near these limits; beyond them a file is damaged.
constexpr std::int64_t kMostSteps = 1'000'000'000'000'000, kMostTokens = 1'000'000'000'000'000'000;
constexpr double kMostFlops = 1e100;

const io::Json& checked_rows(const io::Json& rows, const std::string& file) {
  const auto is_row = [](const io::Json& row) { return row.is_object(); };
  check(rows.is_array() && std::ranges::all_of(rows, is_row), "{}: \"log_history\" must be an array of objects", file);
  return rows;
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
                                  {"skipped_steps", skipped_steps},
                                  {"steps_since_log", steps_since_log},
                                  {"train_data", train_data},
                                  {"world_size", world_size}}}};
  json["total_flos"] = total_flos;
  json["train_batch_size"] = train_batch_size;
  json["trial_name"] = nullptr;
  json["trial_params"] = nullptr;
  return json;
}

TrainerState TrainerState::from_json(const io::Json& json, const std::string& file) {
  const auto is_given = [](const io::Json& object, const char* key) {
    return object.contains(key) && !object[key].is_null();
  };
  const auto count_or_0 = [&](const io::Json& object, const char* key, std::int64_t most = kMostSteps) {
    return is_given(object, key) ? io::get_int_within(object, key, 0, most, file) : 0;
  };
  const auto steps = [&](const char* key) {  // the Trainer writes a single step as 1.0
    const double most = static_cast<double>(kMostSteps);
    return is_given(json, key) ? static_cast<std::int64_t>(io::get_double_within(json, key, 0, most, file)) : 0;
  };
  TrainerState state;
  state.max_steps = io::get_int_within(json, "max_steps", 0, kMostSteps, file);
  state.global_step = io::get_int_within(json, "global_step", 0, state.max_steps, file);
  state.epoch = io::get_double_within(json, "epoch", 0, kMostSteps, file);
  state.num_train_epochs = io::get_int_within(json, "num_train_epochs", 0, kMostSteps, file);
  state.total_flos = io::get_double_within(json, "total_flos", 0, kMostFlops, file);
  state.num_input_tokens_seen = count_or_0(json, "num_input_tokens_seen", kMostTokens);
  state.logging_steps = steps("logging_steps");
  state.eval_steps = steps("eval_steps");
  state.save_steps = steps("save_steps");
  state.train_batch_size = count_or_0(json, "train_batch_size");
  if (is_given(json, "best_metric")) {
    state.best_metric = io::get_double(json, "best_metric", file);
    state.best_global_step = count_or_0(json, "best_global_step", state.global_step);
    state.best_model_checkpoint = io::get_string_or(json, "best_model_checkpoint", "", file);
  }
  if (json.contains("log_history")) state.log_history = checked_rows(json["log_history"], file);
  if (json.contains("stateful_callbacks") && json["stateful_callbacks"].contains("hearth")) {
    const io::Json& own = json["stateful_callbacks"]["hearth"];
    state.evaluation_skipped = io::get_bool_or(own, "evaluation_skipped", false, file);
    state.evaluations_without_gain = count_or_0(own, "evaluations_without_gain");
    state.loss_sum = io::get_double_or(own, "loss_sum", 0, file);  // NaN is possible: of the losses, not of the file
    state.loss_since_log = io::get_double_or(own, "loss_since_log", 0, file);
    state.steps_since_log = count_or_0(own, "steps_since_log", state.global_step);
    state.skipped_steps = count_or_0(own, "skipped_steps", state.global_step);
    state.world_size = count_or_0(own, "world_size");
    state.train_data = io::get_string_or(own, "train_data", "", file);
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

}  // namespace hearth
