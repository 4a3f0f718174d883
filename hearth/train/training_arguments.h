#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/base/arguments.h"
#include "hearth/base/dtype.h"
#include "hearth/train/training_choices.h"

namespace hearth {

// The Trainer's settings under the Trainer's names, with its defaults. Set members, then call validate().
struct HEARTH_API TrainingArguments {
  std::string output_dir = "trainer_output";
  bool overwrite_output_dir = false;
  bool do_train = false, do_eval = false, do_predict = false;
  std::optional<std::string> resume_from_checkpoint;  // a folder, or "True": the last checkpoint in output_dir

  std::int64_t per_device_train_batch_size = 8, per_device_eval_batch_size = 8;
  bool auto_find_batch_size = false;  // halve per_device_train_batch_size until it fits
  std::int64_t gradient_accumulation_steps = 1;
  double num_train_epochs = 3.0;
  std::int64_t max_steps = -1;  // from 0 on it decides, instead of num_train_epochs
  Sampling train_sampling_strategy = Sampling::random;
  bool group_by_length = false;  // the older name of Sampling::group_by_length; validate() makes them agree
  bool dataloader_drop_last = false;
  bool ignore_data_skip = false;

  double learning_rate = 5e-5;
  std::string lr_scheduler_type = "linear";
  std::optional<std::string> lr_scheduler_kwargs;  // a JSON object
  double warmup_steps = 0;                         // below 1: a ratio of all steps
  double warmup_ratio = 0.0;                       // where warmup_steps is 0
  std::string optim = "adamw_torch";
  std::optional<std::string> optim_args;  // key=value,key=value
  double weight_decay = 0.0;
  double adam_beta1 = 0.9, adam_beta2 = 0.999, adam_epsilon = 1e-8;
  double max_grad_norm = 1.0;  // 0: no clipping
  double label_smoothing_factor = 0.0;
  NanPolicy nan_policy = NanPolicy::stop;

  bool bf16 = false, fp16 = false;
  bool bf16_full_eval = false, fp16_full_eval = false;
  bool gradient_checkpointing = false;
  std::int64_t seed = 42;
  std::optional<std::int64_t> data_seed;

  Strategy logging_strategy = Strategy::steps, eval_strategy = Strategy::no, save_strategy = Strategy::steps;
  // Steps below 1 are a ratio of all steps (in_steps).
  double logging_steps = 500, save_steps = 500;
  std::optional<double> eval_steps;  // validate() makes it logging_steps for Strategy::steps
  bool logging_first_step = false;
  bool logging_nan_inf_filter = true;
  bool include_tokens_per_second = false, include_num_input_tokens_seen = false;
  bool skip_memory_metrics = true;  // false: MemoryMetrics in the results
  bool verbose = false;             // print every setting at start, not only those that differ from their defaults
  std::vector<std::string> debug;   // names of DebugAid
  bool profile = false;             // profile.json and trace.json in output_dir
  std::vector<std::string> report_to{
      "html"};                             // names of Tracker, all, or none; what they write is the program's choice
  std::optional<std::string> logging_dir;  // of tensorboard's files; output_dir/runs/DATE_HOST if not given
  std::optional<std::string> run_name;     // in reports; output_dir if not given
  bool log_histograms = false;             // tensorboard: of weights and gradients, with every log row
  std::optional<bool> disable_tqdm;
  Verbosity log_level = Verbosity::passive;          // of the first process
  Verbosity log_level_replica = Verbosity::warning;  // of the others
  bool log_on_each_node = true;                      // log_level counts for each host's first process
  double eval_delay = 0;                             // in steps or epochs, as eval_strategy is
  bool eval_on_start = false;

  std::optional<std::int64_t> save_total_limit;
  bool save_only_model = false;
  SaveFormat save_format = SaveFormat::safetensors;
  bool save_on_each_node = false;
  bool load_best_model_at_end = false;
  std::optional<std::string> metric_for_best_model;  // with or without "eval_"
  std::optional<bool> greater_is_better;
  std::optional<std::int64_t> early_stopping_patience;  // evaluations without improvement
  double early_stopping_threshold = 0.0;

  std::int64_t local_rank = -1;
  std::optional<std::string> ddp_backend;
  std::int64_t ddp_timeout = 1800;                // seconds
  std::optional<std::int64_t> ddp_bucket_cap_mb;  // 25 otherwise
  DType ddp_wire_dtype = DType::f32;              // dtype in which gradients are sent: bf16 halves the bytes
  bool sharded_optimizer = false;                 // each process keeps the optimizer state of its shard of the weights

  std::int64_t num_threads = 0;  // 0: all cores
  std::string max_isa;           // empty: what the processor has

  // Makes the Trainer's checks, and sets its defaults that depend on other settings. Reads no environment variable
  // but HOME, for ~ in output_dir, and HEARTH_PLUGIN_PATH, for the names of backends.
  void validate();

  bool uses(DebugAid aid) const;  // debug names it
  bool reports_to(Tracker tracker) const;
  bool resumes_from_last() const;  // resume_from_checkpoint names no folder
  DType train_dtype() const;       // dtype of matmuls
  DType eval_dtype() const;
  std::int64_t warmup_steps_of(std::int64_t total_steps) const;
};

// Options for every member; the Trainer's other options are ignored or refused, each with a reason.
HEARTH_API void declare(Arguments& options, TrainingArguments& arguments);

// A number of steps; below 1 it is a ratio of `total_steps`, rounded up.
HEARTH_API std::int64_t in_steps(double steps_or_ratio, std::int64_t total_steps);

}  // namespace hearth
