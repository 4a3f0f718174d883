#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "hearth/io/json.h"

namespace hearth {

// The progress of a run, as trainer_state.json stores it: everything a resumed run needs beyond weights and moments.
struct TrainerState {
  std::int64_t global_step = 0, max_steps = 0;
  std::int64_t num_train_epochs = 0;
  double epoch = 0;
  double total_flos = 0;
  std::int64_t num_input_tokens_seen = 0;
  std::int64_t logging_steps = 500, eval_steps = 500, save_steps = 500, train_batch_size = 0, world_size = 0;
  std::string train_data;  // what the run trains on, as description_of() says it; empty: not known
  std::optional<double> best_metric;
  std::int64_t best_global_step = 0;
  std::string best_model_checkpoint;          // empty: none was saved
  std::int64_t evaluations_without_gain = 0;  // for early stopping
  io::Json log_history = io::Json::array();

  double loss_sum = 0;        // of all steps
  double loss_since_log = 0;  // of the steps since the last log
  std::int64_t steps_since_log = 0;
  std::int64_t skipped_steps = 0;   // by --nan_policy skip; those of fp16's loss scaling are counted by the scaler
  bool evaluation_skipped = false;  // the evaluation of this step, by a run that was asked to stop

  io::Json to_json() const;
  static TrainerState from_json(const io::Json& json, const std::string& file);  // checks every value

  void save(const std::filesystem::path& folder) const;  // trainer_state.json
  static TrainerState load(const std::filesystem::path& folder);
};

}  // namespace hearth
