#include "hearth/cpu/parallel.h"
#include "hearth/optim/schedule.h"
#include "hearth/train/training_arguments.h"

namespace hearth {
namespace {

// Products of these, and of a number of processes, are still whole numbers of 64 bits.
constexpr double kMostSteps = 1e15, kMostEpochs = 1e9, kLargestBatch = 1 << 30, kMostBatches = 1 << 20;

void declare_job(Arguments& options, TrainingArguments& args) {
  options.section("Job");
  options.add("output_dir", &args.output_dir, "folder for the model, checkpoints and results");
  options.add("overwrite_output_dir", &args.overwrite_output_dir, "train anew even if output_dir is not empty");
  options.add("do_train", &args.do_train, "train");
  options.add("do_eval", &args.do_eval, "evaluate on the validation file");
  options.add("do_predict", &args.do_predict, "predict on the test file");
  options.add("resume_from_checkpoint", &args.resume_from_checkpoint,
              "checkpoint folder to go on from; True: the last one in output_dir");
  options.add("seed", &args.seed, "seed of new weights, data order and dropout").at_least(0).at_most(0xffffffffu);
  options.add("data_seed", &args.data_seed, "seed of the data order alone").at_least(0);
  options.add("num_threads", &args.num_threads, "threads to compute with; 0: all cores")
      .at_least(0)
      .at_most(cpu::kMostThreads);
  options.add("max_isa", &args.max_isa,
              "highest instruction set to use: avx2, avx512, avx512_vnni, avx512_bf16, avx512_fp16, amx");
}

void declare_training(Arguments& options, TrainingArguments& args) {
  options.section("Training");
  options.add("per_device_train_batch_size", &args.per_device_train_batch_size, "examples of a batch, in each process")
      .alias("per_gpu_train_batch_size")
      .at_least(1)
      .at_most(kLargestBatch);
  options.add("gradient_accumulation_steps", &args.gradient_accumulation_steps, "batches of a step")
      .at_least(1)
      .at_most(kMostBatches);
  options.add("num_train_epochs", &args.num_train_epochs, "passes over the training data")
      .at_least(0)
      .at_most(kMostEpochs);
  options.add("max_steps", &args.max_steps, "above 0: steps to train, instead of num_train_epochs")
      .at_least(-1)
      .at_most(kMostSteps);
  options.add("train_sampling_strategy", &args.train_sampling_strategy, "order of the training data")
      .choices({"random", "sequential", "group_by_length"});
  options.add("group_by_length", &args.group_by_length, "as --train_sampling_strategy group_by_length");
  options.add("dataloader_drop_last", &args.dataloader_drop_last, "leave out an epoch's last batch if it is not full");
  options.add("ignore_data_skip", &args.ignore_data_skip, "resume with the epoch's first batch");
  options.add("bf16", &args.bf16, "train in bf16, with fp32 master weights");
  options.add("fp16", &args.fp16, "train in fp16, with fp32 master weights and loss scaling");
  options.add("gradient_checkpointing", &args.gradient_checkpointing,
              "save memory by computing activations again in the backward pass");

  options.section("Optimizer");
  options.add("optim", &args.optim, "optimizer").choices({"adamw_torch", "adamw_torch_fused", "sgd", "adafactor"});
  options.add("learning_rate", &args.learning_rate, "highest learning rate").at_least(0);
  options.add("lr_scheduler_type", &args.lr_scheduler_type, "schedule of the learning rate")
      .choices(optim::schedule_names());
  options.add("lr_scheduler_kwargs", &args.lr_scheduler_kwargs, "settings of the schedule, a JSON object");
  options.add("warmup_steps", &args.warmup_steps, "steps of warm-up; below 1: their share of all steps")
      .at_least(0)
      .at_most(kMostSteps);
  options.add("warmup_ratio", &args.warmup_ratio, "share of warm-up of all steps, where warmup_steps is 0")
      .at_least(0)
      .at_most(1);
  options.add("weight_decay", &args.weight_decay, "decay of all but biases and normalisation weights").at_least(0);
  options.add("adam_beta1", &args.adam_beta1, "AdamW's first beta").at_least(0).below(1);
  options.add("adam_beta2", &args.adam_beta2, "AdamW's second beta").at_least(0).below(1);
  options.add("adam_epsilon", &args.adam_epsilon, "AdamW's epsilon").at_least(0);
  options.add("max_grad_norm", &args.max_grad_norm, "gradients are scaled down to this norm; 0: never").at_least(0);
  options.add("label_smoothing_factor", &args.label_smoothing_factor, "label smoothing").at_least(0).below(1);
}

void declare_reports(Arguments& options, TrainingArguments& args) {
  options.section("Logging");
  options.add("logging_strategy", &args.logging_strategy, "when to log").choices({"no", "steps", "epoch"});
  options.add("logging_steps", &args.logging_steps, "steps between logs; below 1: a share of all steps")
      .at_least(0)
      .at_most(kMostSteps);
  options.add("logging_first_step", &args.logging_first_step, "log the first step too");
  options.add("logging_nan_inf_filter", &args.logging_nan_inf_filter, "leave NaN and infinite losses out of the mean");
  options.add("include_tokens_per_second", &args.include_tokens_per_second, "report training tokens a second");
  options.add("include_num_input_tokens_seen", &args.include_num_input_tokens_seen, "log the number of tokens read");
  options.add("skip_memory_metrics", &args.skip_memory_metrics,
              "False: report the memory of each stage in the results");
  options.add("verbose", &args.verbose, "print every setting at start, not only those that differ from the default");
  options.add("disable_tqdm", &args.disable_tqdm, "no progress bar");
  options.add("profile", &args.profile,
              "write where each step's time went into output_dir: profile.json by op, trace.json for Perfetto");

  options.section("Evaluation");
  options.add("eval_strategy", &args.eval_strategy, "when to evaluate")
      .alias("evaluation_strategy")
      .choices({"no", "steps", "epoch"});
  options.add("eval_steps", &args.eval_steps, "steps between evaluations, or their share; logging_steps otherwise")
      .at_least(0)
      .at_most(kMostSteps);
  options.add("eval_delay", &args.eval_delay, "steps or epochs before the first evaluation").at_least(0);
  options.add("eval_on_start", &args.eval_on_start, "evaluate before the first step");
  options.add("per_device_eval_batch_size", &args.per_device_eval_batch_size, "examples of a batch, in each process")
      .alias("per_gpu_eval_batch_size")
      .at_least(1)
      .at_most(kLargestBatch);
  options.add("bf16_full_eval", &args.bf16_full_eval, "evaluate in bf16");
  options.add("fp16_full_eval", &args.fp16_full_eval, "evaluate in fp16");
  options
      .add("early_stopping_patience", &args.early_stopping_patience,
           "stop after so many evaluations without improvement of metric_for_best_model")
      .at_least(1);
  options.add("early_stopping_threshold", &args.early_stopping_threshold, "what counts as an improvement").at_least(0);

  options.section("Saving");
  options.add("save_strategy", &args.save_strategy, "when to write a checkpoint")
      .choices({"no", "steps", "epoch", "best"});
  options.add("save_steps", &args.save_steps, "steps between checkpoints; below 1: a share of all steps")
      .at_least(0)
      .at_most(kMostSteps);
  options.add("save_total_limit", &args.save_total_limit, "checkpoints to keep; 0: all");
  options.add("save_only_model", &args.save_only_model, "checkpoints without what resuming needs");
  options.add("load_best_model_at_end", &args.load_best_model_at_end, "end with the best checkpoint, not the last");
  options.add("metric_for_best_model", &args.metric_for_best_model, "metric that decides which is best");
  options.add("greater_is_better", &args.greater_is_better, "which way; decided by the metric's name otherwise");
}

void declare_processes(Arguments& options, TrainingArguments& args) {
  options.section("Several processes");
  options.add("ddp_backend", &args.ddp_backend, "what carries gradients")
      .alias("xpu_backend")
      .choices({"gloo", "mpi", "ccl"});
  options.add("ddp_timeout", &args.ddp_timeout, "seconds to wait for other processes").at_least(1).at_most(1e9);
  options.add("ddp_bucket_cap_mb", &args.ddp_bucket_cap_mb, "MiB of gradients sent at once; 25 otherwise")
      .at_least(1)
      .at_most(1 << 20);
  options.add("ddp_wire_dtype", &args.ddp_wire_dtype, "format that gradients are sent in").choices({"fp32", "bf16"});
  options.add("sharded_optimizer", &args.sharded_optimizer,
              "save memory: each process keeps the optimizer's state of its share of the weights alone");
  options.add("local_rank", &args.local_rank, "number of this process on its machine").at_least(-1).at_most(1 << 20);
  options.add("save_on_each_node", &args.save_on_each_node, "save on every machine, not on the first alone");
}

// Where one reason holds for switches and for options with values.
void ignore(Arguments& options, std::initializer_list<std::string_view> switches,
            std::initializer_list<std::string_view> with_values, std::string_view reason) {
  options.ignored_switches(switches, reason);
  options.ignored(with_values, reason);
}

void declare_foreign(Arguments& options) {
  ignore(options,
         {"no_cuda", "use_cpu", "use_mps_device", "tf32", "tpu_metrics_debug", "auto_find_batch_size",
          "dataloader_pin_memory"},
         {"tpu_num_cores", "torch_empty_cache_steps"}, "there is only the CPU");
  ignore(options, {"use_ipex", "ipex", "jit_mode_eval", "torch_compile", "use_liger_kernel"},
         {"torch_compile_backend", "torch_compile_mode", "torchdynamo", "liger_kernel_config"},
         "what it stood for is always on");
  ignore(options, {}, {"half_precision_backend", "fp16_backend", "fp16_opt_level", "gradient_checkpointing_kwargs"},
         "there is one way to do it");
  ignore(options, {"dataloader_persistent_workers", "dataloader_in_order"},
         {"dataloader_num_workers", "dataloader_prefetch_factor", "dataloader_multiprocessing_context"},
         "batches are always prefetched, in order");
  ignore(options, {},
         {"report_to...", "logging_dir", "run_name", "project", "trackio_space_id", "trackio_bucket_id",
          "trackio_static_space_id"},
         "logs go to the terminal and to trainer_state.json");
  ignore(options, {"log_on_each_node"}, {"log_level", "log_level_replica", "debug..."},
         "messages are always shown, by the first process");
  ignore(options, {"full_determinism"}, {}, "results are always deterministic");
  ignore(options, {"save_safetensors", "enable_jit_checkpoint"}, {}, "weights are always written as safetensors");
  ignore(options, {"restore_callback_states_from_checkpoint"}, {}, "resuming always restores everything");
  ignore(options,
         {"remove_unused_columns", "prediction_loss_only", "eval_do_concat_batches", "eval_use_gather_object",
          "batch_eval_metrics", "include_inputs_for_metrics", "use_legacy_prediction_loop", "use_cache"},
         {"label_names...", "length_column_name", "eval_accumulation_steps", "include_for_metrics...", "past_index"},
         "the task knows what its data and metrics need");
  ignore(options,
         {"ddp_find_unused_parameters", "ddp_broadcast_buffers", "ddp_static_graph", "average_tokens_across_devices"},
         {"ray_scope"}, "processes agree without it");
  ignore(options, {"hub_private_repo", "hub_always_push"},
         {"hub_model_id", "hub_strategy", "hub_token", "hub_revision", "push_to_hub_model_id",
          "push_to_hub_organization", "push_to_hub_token"},
         "it belongs to push_to_hub");
  options.refused({"push_to_hub"}, "needs the Hub, which this version does not reach; upload output_dir afterwards");
  options.refused({"deepspeed", "fsdp", "fsdp_config", "fsdp_min_num_params", "fsdp_transformer_layer_cls_to_wrap",
                   "parallelism_config", "accelerator_config", "mp_parameters"},
                  "configures another way to train in parallel; leave it out");
  options.refused({"adafactor"}, "is spelt --optim adafactor");
  options.refused({"optim_args", "optim_target_modules"}, "belongs to optimizers that are not here; leave it out");
  options.refused({"neftune_noise_alpha"}, "is not implemented; leave it out");
}

}  // namespace

void declare(Arguments& options, TrainingArguments& arguments) {
  declare_job(options, arguments);
  declare_training(options, arguments);
  declare_reports(options, arguments);
  declare_processes(options, arguments);
  declare_foreign(options);
}

}  // namespace hearth
