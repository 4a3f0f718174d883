#include "hearth/comm/plugin_files.h"
#include "hearth/cpu/parallel.h"
#include "hearth/optim/optimizers.h"
#include "hearth/optim/schedule.h"
#include "hearth/train/training_arguments.h"

namespace hearth {
namespace {

// Products of these limits and a number of processes still fit into 64 bits.
constexpr double kMostSteps = 1e15, kMostEpochs = 1e9, kLargestBatch = 1 << 30, kMostBatches = 1 << 20;

constexpr std::initializer_list<Strategy> kPeriodic = {Strategy::no, Strategy::steps, Strategy::epoch};

void declare_job(Arguments& options, TrainingArguments& args) {
  options.section("Job");
  options.add("output_dir", &args.output_dir, "folder for the model, checkpoints, logs and results").per_process();
  options
      .add("overwrite_output_dir", &args.overwrite_output_dir,
           "train from the start even if output_dir is not empty, and remove the checkpoints in it")
      .per_process();
  options.add("do_train", &args.do_train, "run training");
  options.add("do_eval", &args.do_eval, "run evaluation on the validation file");
  options.add("do_predict", &args.do_predict, "run predictions on the test file");
  options
      .add("resume_from_checkpoint", &args.resume_from_checkpoint,
           "checkpoint folder to resume from; True: the last good checkpoint in output_dir")
      .per_process();
  options.add("seed", &args.seed, "random seed of new weights, data order and dropout")
      .at_least(0)
      .at_most(0xffffffffu);
  options.add("data_seed", &args.data_seed, "random seed of the data order; seed if not given").at_least(0);
  options.add("num_threads", &args.num_threads, "number of compute threads; 0: one per core")
      .at_least(0)
      .at_most(cpu::kMostThreads)
      .per_process();
  options
      .add("max_isa", &args.max_isa,
           "highest instruction set to use: avx2, avx512, avx512_vnni, avx512_bf16, avx512_fp16 or amx")
      .per_process();
}

void declare_training(Arguments& options, TrainingArguments& args) {
  options.section("Training");
  options.add("per_device_train_batch_size", &args.per_device_train_batch_size, "training batch size per process")
      .alias("per_gpu_train_batch_size")
      .at_least(1)
      .at_most(kLargestBatch);
  options.add("auto_find_batch_size", &args.auto_find_batch_size,
              "halve the training batch size until a batch of the longest examples fits into memory");
  options
      .add("gradient_accumulation_steps", &args.gradient_accumulation_steps,
           "batches whose gradients are accumulated per optimizer step")
      .at_least(1)
      .at_most(kMostBatches);
  options.add("num_train_epochs", &args.num_train_epochs, "number of training epochs; may be a fraction")
      .at_least(0)
      .at_most(kMostEpochs);
  options.add("max_steps", &args.max_steps, "number of optimizer steps; overrides num_train_epochs unless -1")
      .at_least(-1)
      .at_most(kMostSteps);
  options.add("train_sampling_strategy", choice(&args.train_sampling_strategy), "order of the training examples");
  options.add("group_by_length", &args.group_by_length,
              "put examples of similar length into one batch; same as --train_sampling_strategy group_by_length");
  options.add("dataloader_drop_last", &args.dataloader_drop_last,
              "drop the last batch of an epoch if it is incomplete");
  options.add("ignore_data_skip", &args.ignore_data_skip,
              "when resuming, do not skip the batches that the checkpoint has already seen");
  options.add("bf16", &args.bf16, "bf16 mixed precision: bf16 matmuls, fp32 master weights");
  options.add("fp16", &args.fp16, "fp16 mixed precision: fp16 matmuls, fp32 master weights, loss scaling");
  options.add("gradient_checkpointing", &args.gradient_checkpointing,
              "save memory by recomputing activations in the backward pass");

  options.section("Optimizer");
  options.add("optim", &args.optim, "optimizer").choices(optim::optimizer_names());
  options.add("optim_args", &args.optim_args,
              "extra settings of the optimizer, as key=value,key=value: " + optim::describe_optimizer_args());
  options.add("learning_rate", &args.learning_rate, "initial (peak) learning rate").at_least(0);
  options.add("lr_scheduler_type", &args.lr_scheduler_type, "learning rate schedule").choices(optim::schedule_names());
  options.add("lr_scheduler_kwargs", &args.lr_scheduler_kwargs, "extra arguments of the schedule, as a JSON object");
  options.add("warmup_steps", &args.warmup_steps, "linear warmup steps; below 1: ratio of all steps")
      .at_least(0)
      .at_most(kMostSteps);
  options.add("warmup_ratio", &args.warmup_ratio, "linear warmup as a ratio of all steps, used if warmup_steps is 0")
      .at_least(0)
      .at_most(1);
  options.add("weight_decay", &args.weight_decay, "weight decay of all parameters except biases and LayerNorm weights")
      .at_least(0);
  options.add("adam_beta1", &args.adam_beta1, "beta1 of " + optim::optimizers_that_read("adam_beta1"))
      .at_least(0)
      .below(1);
  options.add("adam_beta2", &args.adam_beta2, "beta2 of " + optim::optimizers_that_read("adam_beta2"))
      .at_least(0)
      .below(1);
  options.add("adam_epsilon", &args.adam_epsilon, "epsilon of " + optim::optimizers_that_read("adam_epsilon"))
      .at_least(0);
  options.add("max_grad_norm", &args.max_grad_norm, "maximum gradient norm, for gradient clipping; 0: no clipping")
      .at_least(0);
  options.add("label_smoothing_factor", &args.label_smoothing_factor, "label smoothing factor; 0: none")
      .at_least(0)
      .below(1);
  options.add("nan_policy", choice(&args.nan_policy),
              "a loss or gradient that is NaN or infinite stops the run, skips the update of its step, or is ignored");
}

void declare_logging(Arguments& options, TrainingArguments& args) {
  options.section("Logging");
  options.add("logging_strategy", choice(&args.logging_strategy, kPeriodic), "when to log the loss");
  options.add("logging_steps", &args.logging_steps, "log every N steps; below 1: ratio of all steps")
      .at_least(0)
      .at_most(kMostSteps);
  options.add("logging_first_step", &args.logging_first_step, "also log the first step");
  options.add("logging_nan_inf_filter", &args.logging_nan_inf_filter,
              "leave NaN and infinite losses out of the logged mean");
  options.add("include_tokens_per_second", &args.include_tokens_per_second, "report training tokens per second");
  options.add("include_num_input_tokens_seen", &args.include_num_input_tokens_seen,
              "log the number of input tokens seen so far");
  options.add("skip_memory_metrics", &args.skip_memory_metrics,
              "False: report the memory of each stage in the results");
  options.add("verbose", &args.verbose, "print every setting at start, not only those that differ from the default")
      .per_process();
  options.add("disable_tqdm", &args.disable_tqdm, "hide the progress bar").per_process();
  options
      .add("log_level", choice(&args.log_level),
           "lowest level of the messages that the first process shows; passive means info. Metrics, log rows and "
           "the progress bar always appear. Levels")
      .per_process();
  options
      .add("log_level_replica", choice(&args.log_level_replica),
           "log_level of the other processes; passive means warning")
      .per_process();
  options
      .add("log_on_each_node", &args.log_on_each_node,
           "a log_level other than passive counts for the first process of every host, not only of the first host")
      .per_process();
  options.add("debug", &args.debug,
              "underflow_overflow: look for NaN and infinity in what every op computes, in every step, and name the "
              "first op; slow. tpu_metrics_debug has no effect");
  options
      .add("report_to", &args.report_to,
           "reports of the run: html (report.html in output_dir, renewed while it trains), jsonl (log.jsonl, a line "
           "per log row), tensorboard (event files), all or none")
      .per_process();
  options.add("logging_dir", &args.logging_dir, "folder of TensorBoard's files; output_dir/runs/DATE_HOST if not given")
      .per_process();
  options.add("run_name", &args.run_name, "name of the run in reports; output_dir if not given").per_process();
  options
      .add("log_histograms", &args.log_histograms,
           "tensorboard: also write histograms of weights and gradients with every log row")
      .per_process();
  options.add("profile", &args.profile,
              "profile training: write time per op and thread to output_dir/profile.json, a trace of all threads for "
              "Perfetto to trace.json");
}

void declare_evaluation(Arguments& options, TrainingArguments& args) {
  options.section("Evaluation");
  options.add("eval_strategy", choice(&args.eval_strategy, kPeriodic), "when to evaluate during training")
      .alias("evaluation_strategy");
  options
      .add("eval_steps", &args.eval_steps,
           "evaluate every N steps; below 1: ratio of all steps; logging_steps if not given")
      .at_least(0)
      .at_most(kMostSteps);
  options.add("eval_delay", &args.eval_delay, "steps or epochs (by eval_strategy) to wait before the first evaluation")
      .at_least(0);
  options.add("eval_on_start", &args.eval_on_start, "evaluate once before training");
  options.add("per_device_eval_batch_size", &args.per_device_eval_batch_size, "evaluation batch size per process")
      .alias("per_gpu_eval_batch_size")
      .at_least(1)
      .at_most(kLargestBatch);
  options.add("bf16_full_eval", &args.bf16_full_eval, "evaluate with bf16 matmuls");
  options.add("fp16_full_eval", &args.fp16_full_eval, "evaluate with fp16 matmuls");
  options
      .add("early_stopping_patience", &args.early_stopping_patience,
           "stop after N evaluations in which metric_for_best_model did not improve")
      .at_least(1);
  options
      .add("early_stopping_threshold", &args.early_stopping_threshold,
           "smallest change of the metric that counts as an improvement")
      .at_least(0);
}

void declare_saving(Arguments& options, TrainingArguments& args) {
  options.section("Saving");
  options.add("save_strategy", choice(&args.save_strategy), "when to save a checkpoint");
  options.add("save_steps", &args.save_steps, "save every N steps; below 1: ratio of all steps")
      .at_least(0)
      .at_most(kMostSteps);
  options.add("save_total_limit", &args.save_total_limit,
              "keep at most N checkpoints, deleting the oldest; 0: keep all");
  options.add("save_only_model", &args.save_only_model,
              "save only the model in checkpoints, without the state that resuming needs");
  options.add(
      "save_format", choice(&args.save_format),
      "files of checkpoints: pytorch writes optimizer.pt, scheduler.pt, scaler.pt and rng_state.pth, from which the "
      "Trainer resumes, and pytorch_model.bin beside model.safetensors; pytorch_v5 is for (XLM-)RoBERTa and "
      "transformers 5");
  options.add("load_best_model_at_end", &args.load_best_model_at_end,
              "load the best checkpoint, not the last, when training ends");
  options.add("metric_for_best_model", &args.metric_for_best_model,
              "metric that decides which checkpoint is best: f1, exact_match, ...");
  options.add("greater_is_better", &args.greater_is_better,
              "whether a greater metric is better; if not given, true unless its name ends in loss");
}

void declare_processes(Arguments& options, TrainingArguments& args) {
  options.section("Several processes");
  options.add("ddp_backend", &args.ddp_backend, "communication backend; if not given, chosen by the launcher")
      .alias("xpu_backend")
      .choices(comm::backend_names());
  options.add("ddp_timeout", &args.ddp_timeout, "seconds to wait for other ranks").at_least(1).at_most(1e9);
  options
      .add("ddp_bucket_cap_mb", &args.ddp_bucket_cap_mb, "bucket size for gradient all-reduce in MiB; 25 if not given")
      .at_least(1)
      .at_most(1 << 20);
  options.add("ddp_wire_dtype", choice(&args.ddp_wire_dtype, {DType::f32, DType::bf16}),
              "dtype in which gradients are sent; bf16 halves the bytes");
  options.add("sharded_optimizer", &args.sharded_optimizer,
              "save memory: shard the optimizer state over the ranks (ZeRO stage 1)");
  options.add("local_rank", &args.local_rank, "rank of this process on its host; launchers set it")
      .at_least(-1)
      .at_most(1 << 20)
      .per_process();
  options.add("save_on_each_node", &args.save_on_each_node, "save checkpoints on every host, not only on the first");
}

// One reason for switches and for options with values.
void ignore(Arguments& options, std::initializer_list<std::string_view> switches,
            std::initializer_list<std::string_view> with_values, std::string_view reason) {
  options.ignored_switches(switches, reason);
  options.ignored(with_values, reason);
}

void declare_foreign(Arguments& options) {
  ignore(options, {"no_cuda", "use_cpu", "use_mps_device", "tf32", "tpu_metrics_debug", "dataloader_pin_memory"},
         {"tpu_num_cores", "torch_empty_cache_steps"}, "Hearth trains on the CPU only");
  ignore(options, {"use_ipex", "ipex", "jit_mode_eval", "torch_compile", "use_liger_kernel"},
         {"torch_compile_backend", "torch_compile_mode", "torchdynamo", "liger_kernel_config"},
         "Hearth's own optimized kernels are always used");
  ignore(options, {}, {"half_precision_backend", "fp16_backend", "fp16_opt_level"},
         "there is one implementation of mixed precision");
  ignore(options, {}, {"gradient_checkpointing_kwargs"}, "there is one implementation of gradient checkpointing");
  ignore(options, {"dataloader_persistent_workers", "dataloader_in_order"},
         {"dataloader_num_workers", "dataloader_prefetch_factor", "dataloader_multiprocessing_context"},
         "a thread always prefetches batches, in order");
  ignore(options, {}, {"project", "trackio_space_id", "trackio_bucket_id", "trackio_static_space_id"},
         "trackio is not implemented; --report_to html, jsonl and tensorboard are");
  ignore(options, {"full_determinism"}, {}, "training is always deterministic");
  ignore(options, {"save_safetensors"}, {}, "weights are always saved as safetensors");
  ignore(options, {"enable_jit_checkpoint"}, {}, "a signal always saves a checkpoint before the run ends");
  ignore(options, {"restore_callback_states_from_checkpoint"}, {}, "resuming always restores the whole state");
  ignore(options,
         {"remove_unused_columns", "prediction_loss_only", "eval_do_concat_batches", "eval_use_gather_object",
          "batch_eval_metrics", "include_inputs_for_metrics", "use_legacy_prediction_loop", "use_cache"},
         {"label_names...", "length_column_name", "include_for_metrics...", "past_index"},
         "the task decides which columns, labels and metrics it uses");
  ignore(options, {}, {"eval_accumulation_steps"}, "predictions are always kept in CPU memory");
  ignore(options, {"ddp_find_unused_parameters", "ddp_broadcast_buffers", "ddp_static_graph"}, {},
         "every parameter is used in every step, and models have no buffers");
  ignore(options, {"average_tokens_across_devices"}, {}, "the loss of this task is a mean over examples, not tokens");
  ignore(options, {}, {"ray_scope"}, "hyperparameter search is not implemented");
  options.refused({"deepspeed", "fsdp", "fsdp_config", "fsdp_min_num_params", "fsdp_transformer_layer_cls_to_wrap",
                   "parallelism_config", "accelerator_config", "mp_parameters"},
                  "configures a library that Hearth does not use; leave it out (--sharded_optimizer saves memory)");
  options.refused({"adafactor"}, "is now --optim adafactor");
  options.refused({"optim_target_modules"}, "configures optimizers that are not implemented; leave it out");
  options.refused({"neftune_noise_alpha"}, "is not implemented yet; leave it out");
}

}  // namespace

void declare(Arguments& options, TrainingArguments& arguments) {
  declare_job(options, arguments);
  declare_training(options, arguments);
  declare_logging(options, arguments);
  declare_evaluation(options, arguments);
  declare_saving(options, arguments);
  declare_processes(options, arguments);
  declare_foreign(options);
}

}  // namespace hearth
