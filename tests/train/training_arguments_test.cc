#include "hearth/train/training_arguments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "hearth/base/error.h"
#include "hearth/base/usage_error.h"
#include "hearth/io/json.h"
#include "hearth/train/program_flags.h"
#include "tests/support.h"

namespace hearth {
namespace {

using Words = std::vector<std::string>;
using hearth::error_of;

TrainingArguments parsed(const Words& words, bool by_program = false) {
  TrainingArguments args;
  Arguments options;
  declare(options, args);
  parse_flags_or_file(options, words);
  if (by_program) take_precision_of_launcher(args);
  args.validate();
  return args;
}

std::string error_of(const Words& words) {
  return hearth::error_of([&] { parsed(words); });
}

Words notices_of(const Words& words) {
  TrainingArguments args;
  Arguments options;
  declare(options, args);
  parse_flags_or_file(options, words);
  return options.notices();
}

using TrainingArgumentsTest = TemporaryFolder;

TEST_F(TrainingArgumentsTest, DefaultsAreTheTrainers) {
  const TrainingArguments args = parsed({});
  EXPECT_EQ(args.output_dir, "trainer_output");
  EXPECT_EQ(args.per_device_train_batch_size, 8);
  EXPECT_EQ(args.learning_rate, 5e-5);
  EXPECT_EQ(args.num_train_epochs, 3.0);
  EXPECT_EQ(args.logging_steps, 500);
  EXPECT_EQ(args.save_strategy, Strategy::steps);
  EXPECT_EQ(args.seed, 42);
  EXPECT_FALSE(args.do_eval || args.eval_steps || args.metric_for_best_model || args.greater_is_better);
  EXPECT_EQ(args.train_dtype(), DType::f32);
}

TEST_F(TrainingArgumentsTest, TheMainCommand) {
  const Words command{"--do_train",
                      "--do_eval",
                      "--per_device_train_batch_size",
                      "12",
                      "--learning_rate",
                      "3e-5",
                      "--num_train_epochs",
                      "2",
                      "--output_dir",
                      "OUT",
                      "--use_ipex",
                      "--bf16",
                      "--use_cpu"};
  const TrainingArguments args = parsed(command);
  EXPECT_TRUE(args.do_train && args.do_eval && args.bf16);
  EXPECT_EQ(args.per_device_train_batch_size, 12);
  EXPECT_EQ(args.num_train_epochs, 2);
  EXPECT_EQ(args.train_dtype(), DType::bf16);
  EXPECT_EQ(args.eval_dtype(), DType::bf16);
  EXPECT_EQ(notices_of(command),
            (Words{"--use_ipex is accepted and has no effect: Hearth's own optimized kernels are always used",
                   "--use_cpu is accepted and has no effect: Hearth trains on the CPU only"}));
}

TEST_F(TrainingArgumentsTest, NamesOfOtherVersions) {
  EXPECT_EQ(parsed({"--evaluation_strategy", "epoch"}).eval_strategy, Strategy::epoch);
  EXPECT_EQ(parsed({"--xpu_backend", "ccl"}).ddp_backend, "ccl");
  EXPECT_EQ(parsed({"--per_gpu_train_batch_size", "3"}).per_device_train_batch_size, 3);
  EXPECT_FALSE(parsed({"--no_logging_nan_inf_filter"}).logging_nan_inf_filter);
  EXPECT_TRUE(parsed({"--train_sampling_strategy", "group_by_length"}).group_by_length);
  EXPECT_EQ(parsed({"--group_by_length"}).train_sampling_strategy, Sampling::group_by_length);
  EXPECT_TRUE(contains(error_of({"--group_by_length", "--train_sampling_strategy", "sequential"}), "contradict"));
}

TEST_F(TrainingArgumentsTest, FormatsExcludeEachOther) {
  EXPECT_EQ(error_of({"--fp16", "--bf16"}), "--fp16 and --bf16 exclude each other: give one of them");
  EXPECT_TRUE(contains(error_of({"--fp16_full_eval", "--bf16_full_eval"}), "exclude"));
  const TrainingArguments args = parsed({"--fp16", "--bf16_full_eval"});
  EXPECT_EQ(args.train_dtype(), DType::f16);
  EXPECT_EQ(args.eval_dtype(), DType::bf16);
}

TEST_F(TrainingArgumentsTest, ThePrecisionOfTheLauncherCountsWithoutAFlag) {
  const auto format = [](const char* of_launcher, const Words& words) {
    setenv("ACCELERATE_MIXED_PRECISION", of_launcher, 1);
    DType result = DType::f32;
    const std::string error = hearth::error_of([&] { result = parsed(words, true).train_dtype(); });
    unsetenv("ACCELERATE_MIXED_PRECISION");
    return error.empty() ? std::string(name_of(result)) : error;
  };
  EXPECT_EQ(format("bf16", {}), "bf16");
  EXPECT_EQ(format("fp16", {}), "fp16");
  EXPECT_EQ(format("no", {}), "fp32");
  EXPECT_EQ(format("bf16", {"--fp16"}), "fp16");
  EXPECT_TRUE(contains(format("fp8", {}), "ACCELERATE_MIXED_PRECISION is 'fp8'"));
}

TEST_F(TrainingArgumentsTest, ValidateDoesNotTakeThePrecisionOfTheEnvironment) {
  setenv("ACCELERATE_MIXED_PRECISION", "bf16", 1);
  TrainingArguments args;
  args.validate();
  unsetenv("ACCELERATE_MIXED_PRECISION");
  EXPECT_FALSE(args.bf16);
}

TEST_F(TrainingArgumentsTest, NumbersHaveTheirLimits) {
  for (const char* name : {"num_train_epochs", "logging_steps", "save_steps", "eval_steps", "warmup_steps"})
    for (const char* value : {"inf", "1e30"})
      EXPECT_TRUE(contains(error_of({std::string("--") + name, value}), "must be at most")) << name << value;
  for (const char* name : {"per_device_train_batch_size", "per_device_eval_batch_size", "gradient_accumulation_steps",
                           "max_steps", "ddp_timeout", "local_rank"})
    EXPECT_TRUE(contains(error_of({std::string("--") + name, "4000000000000000000"}), "must be at most")) << name;
}

TEST_F(TrainingArgumentsTest, NumbersAreFinite) {
  for (const std::string name :
       {"learning_rate", "weight_decay", "adam_epsilon", "max_grad_norm", "eval_delay", "early_stopping_threshold"}) {
    EXPECT_THROW(parsed({"--" + name, "inf"}), UsageError) << name;
    EXPECT_EQ(error_of({"--" + name, "inf"}), "--" + name + " must be a finite number, not inf");
    EXPECT_EQ(error_of({"--" + name, "nan"}), "--" + name + ": 'nan' is not a number");
  }
  for (const std::string name : {"adam_beta1", "adam_beta2", "warmup_ratio", "label_smoothing_factor"})
    for (const std::string value : {"inf", "-inf", "nan"})
      EXPECT_TRUE(error_of({"--" + name, value}).starts_with("--" + name)) << value;
  for (const std::string value : {"NaN", "Infinity"})
    EXPECT_EQ(error_of({"--lr_scheduler_type", "polynomial", "--lr_scheduler_kwargs", "{\"power\": " + value + "}"}),
              "--lr_scheduler_kwargs: power must be a finite number, not " + value);
  TrainingArguments args;
  args.learning_rate = std::nan("");
  EXPECT_EQ(hearth::error_of([&] { args.validate(); }), "--learning_rate must be a finite number, not nan");
}

TEST_F(TrainingArgumentsTest, DebugNamesAids) {
  EXPECT_TRUE(parsed({}).debug.empty());
  EXPECT_TRUE(parsed({"--debug", "underflow_overflow"}).uses(DebugAid::underflow_overflow));
  EXPECT_TRUE(parsed({"--debug", "tpu_metrics_debug underflow_overflow"}).uses(DebugAid::underflow_overflow));
  EXPECT_FALSE(parsed({"--debug", "tpu_metrics_debug"}).uses(DebugAid::underflow_overflow));
  EXPECT_TRUE(parsed({"--debug", ""}).debug.empty());
  EXPECT_EQ(error_of({"--debug", "overflow"}), "--debug: 'overflow' is none of underflow_overflow, tpu_metrics_debug");
}

TEST_F(TrainingArgumentsTest, WhatFilesWillNameIsUtf8) {
  EXPECT_TRUE(contains(error_of({"--output_dir", "caf\xe9"}), R"('caf\xe9' is not UTF-8)"));
  EXPECT_EQ(error_of({"--output_dir", "caf\xc3\xa9"}), "");
}

TEST_F(TrainingArgumentsTest, StepsAreWholeOrAShare) {
  EXPECT_TRUE(contains(error_of({"--logging_steps", "0"}), "--logging_steps above 0"));
  EXPECT_EQ(error_of({"--logging_steps", "0", "--logging_strategy", "epoch"}), "");
  EXPECT_TRUE(contains(error_of({"--logging_steps", "1.5"}), "--logging_steps must be a whole number"));
  EXPECT_TRUE(contains(error_of({"--save_steps", "2.5"}), "--save_steps must be a whole number"));
  EXPECT_TRUE(contains(error_of({"--eval_strategy", "steps", "--eval_steps", "2.5"}), "--eval_steps must be"));
  EXPECT_EQ(parsed({"--logging_steps", "0.1"}).logging_steps, 0.1);
  EXPECT_EQ(in_steps(0.1, 25), 3);
  EXPECT_EQ(in_steps(1, 25), 1);
  EXPECT_EQ(in_steps(7, 25), 7);
  EXPECT_EQ(in_steps(0, 25), 0);
}

TEST_F(TrainingArgumentsTest, Evaluation) {
  const TrainingArguments args = parsed({"--eval_strategy", "steps", "--logging_steps", "20"});
  EXPECT_TRUE(args.do_eval);
  EXPECT_EQ(args.eval_steps, 20);
  EXPECT_EQ(parsed({"--eval_strategy", "steps", "--eval_steps", "30"}).eval_steps, 30);
  EXPECT_TRUE(contains(error_of({"--eval_strategy", "steps", "--logging_steps", "0", "--logging_strategy", "no"}),
                       "--eval_steps or --logging_steps"));
}

TEST_F(TrainingArgumentsTest, BestModel) {
  EXPECT_TRUE(contains(error_of({"--load_best_model_at_end"}), "to be the same, not no and steps"));
  const Words by_steps{"--load_best_model_at_end", "--eval_strategy", "steps"};
  const auto with = [&](const Words& more) {
    Words words = by_steps;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  EXPECT_TRUE(contains(error_of(with({"--eval_steps", "200"})), "--save_steps (500) to be a multiple"));
  EXPECT_EQ(error_of(with({"--eval_steps", "0.1", "--save_steps", "0.3"})), "");
  EXPECT_TRUE(contains(error_of(with({"--eval_steps", "0.1", "--save_steps", "0.25"})), "multiple"));
  EXPECT_TRUE(contains(error_of(with({"--eval_steps", "0.1"})), "multiple"));

  TrainingArguments args = parsed(with({"--eval_steps", "250"}));
  EXPECT_EQ(args.metric_for_best_model, "loss");
  EXPECT_EQ(args.greater_is_better, false);
  args = parsed(with({"--metric_for_best_model", "f1"}));
  EXPECT_EQ(args.greater_is_better, true);
  args = parsed(with({"--metric_for_best_model", "f1", "--greater_is_better", "False"}));
  EXPECT_EQ(args.greater_is_better, false);

  EXPECT_EQ(error_of({"--save_strategy", "best", "--eval_strategy", "epoch"}),
            "--save_strategy best needs --metric_for_best_model");
  EXPECT_TRUE(contains(error_of({"--early_stopping_patience", "3"}), "--early_stopping_patience needs evaluations"));
  EXPECT_TRUE(contains(error_of({"--load_best_model_at_end", "--save_strategy", "no"}), "needs evaluations"));
}

TEST_F(TrainingArgumentsTest, WarmUp) {
  EXPECT_TRUE(contains(error_of({"--warmup_ratio", "1.5"}), "--warmup_ratio must be at most 1, not 1.5"));
  TrainingArguments args;
  args.warmup_ratio = 0.1;
  EXPECT_EQ(args.warmup_steps_of(105), 11);
  args.warmup_ratio = 1;
  EXPECT_EQ(args.warmup_steps_of(105), 105);
  args.warmup_steps = 7;
  EXPECT_EQ(args.warmup_steps_of(105), 7);
  args.warmup_steps = 0.5;
  EXPECT_EQ(args.warmup_steps_of(105), 53);
}

TEST_F(TrainingArgumentsTest, ListsWhatThereIs) {
  EXPECT_TRUE(contains(error_of({"--optim", "lion_8bit"}), "'lion_8bit' is none of adamw_torch, adamw_torch_fused"));
  EXPECT_TRUE(contains(error_of({"--lr_scheduler_type", "step"}), "is none of linear, cosine"));
  EXPECT_TRUE(contains(error_of({"--save_strategy", "often"}), "is none of no, steps, epoch, best"));
  EXPECT_TRUE(contains(error_of({"--ddp_backend", "nccl"}), "is none of gloo, shm, mpi, ccl"));
}

TEST_F(TrainingArgumentsTest, AScheduleKnowsItsSettings) {
  const auto error = [](const std::string& schedule, const std::string& kwargs) {
    return error_of({"--lr_scheduler_type", schedule, "--lr_scheduler_kwargs", kwargs});
  };
  EXPECT_EQ(error("polynomial", R"({"powr": 2})"),
            "--lr_scheduler_kwargs: no schedule has a setting 'powr'; did you mean power?");
  EXPECT_EQ(error("linear", R"({"power": 2})"),
            "--lr_scheduler_kwargs: linear has no setting 'power'; it has none, leave it out");
  EXPECT_EQ(error("polynomial", R"({"eps": 2})"),
            "--lr_scheduler_kwargs: polynomial has no setting 'eps'; it has power, lr_end");
  EXPECT_TRUE(contains(error("linear", "[1]"), "expected a JSON object"));
  EXPECT_EQ(error("cosine_with_min_lr", "{}"),
            "--lr_scheduler_type cosine_with_min_lr needs either min_lr or min_lr_rate in --lr_scheduler_kwargs, not "
            "neither");
  EXPECT_TRUE(contains(error("cosine_with_min_lr", R"({"min_lr": 0, "min_lr_rate": 0})"), "not both"));
  EXPECT_EQ(error("cosine_with_min_lr", R"({"min_lr": 1e-6, "min_lr_rate": null})"), "");
  EXPECT_TRUE(contains(error("warmup_stable_decay", "{}"), "needs num_decay_steps"));
  EXPECT_TRUE(contains(error("warmup_stable_decay", R"({"num_decay_steps": 2, "decay_type": "sqrt"})"), "decay_type"));
  EXPECT_EQ(error("reduce_lr_on_plateau", "{}"),
            "--lr_scheduler_type reduce_lr_on_plateau needs evaluations: give --eval_strategy steps or epoch");
  EXPECT_TRUE(contains(error("reduce_lr_on_plateau", R"({"mode": "best"})"), "choose min or max"));
  const TrainingArguments args = parsed({"--lr_scheduler_type", "reduce_lr_on_plateau", "--eval_strategy", "epoch"});
  EXPECT_EQ(args.metric_for_best_model, "loss");
  EXPECT_EQ(args.greater_is_better, false);
}

TEST_F(TrainingArgumentsTest, AnOptimizerKnowsItsArgs) {
  EXPECT_EQ(parsed({"--optim", "sgd", "--optim_args", "momentum=0.9"}).optim_args, "momentum=0.9");
  EXPECT_EQ(error_of({"--optim", "sgd", "--optim_args", "alpha=0.9"}),
            "--optim_args: sgd has no setting 'alpha'; it has momentum");
  EXPECT_EQ(error_of({"--sharded_optimizer", "--optim", "lion"}), "");
  EXPECT_TRUE(contains(error_of({"--sharded_optimizer", "--optim", "adafactor"}), "adafactor cannot be sharded"));
}

TEST_F(TrainingArgumentsTest, WhatIsNotHere) {
  EXPECT_TRUE(
      contains(error_of({"--deepspeed", "ds.json"}), "--deepspeed configures a library that Hearth does not use"));
  EXPECT_EQ(error_of({"--adafactor"}), "--adafactor is now --optim adafactor");
  EXPECT_EQ(error_of({"--report_to", "none"}), "");
  EXPECT_TRUE(notices_of({"--report_to", "none"}).empty());
  const Words ignored{"--project", "mine", "--no_cuda", "--no_dataloader_pin_memory", "--torch_compile"};
  EXPECT_EQ(notices_of(ignored).size(), 4u);
}

TEST_F(TrainingArgumentsTest, Trackers) {
  EXPECT_EQ(parsed({}).report_to, Words{"html"});
  EXPECT_TRUE(parsed({"--report_to", "none"}).report_to.empty());
  EXPECT_EQ(parsed({"--report_to", "all"}).report_to, (Words{"html", "jsonl", "tensorboard"}));
  const TrainingArguments args = parsed({"--report_to", "tensorboard", "wandb"});
  EXPECT_TRUE(args.reports_to(Tracker::tensorboard));
  EXPECT_FALSE(args.reports_to(Tracker::html));
  EXPECT_EQ(error_of({"--report_to", "papyrus"}),
            "--report_to: 'papyrus' is none of html, jsonl, tensorboard, all, none");
  EXPECT_EQ(error_of({"--log_histograms"}),
            "--log_histograms needs --report_to tensorboard, which is what it writes to");
  EXPECT_TRUE(contains(error_of({"--log_histograms", "--report_to", "all", "--sharded_optimizer"}),
                       "no rank has all gradients"));
}

TEST_F(TrainingArgumentsTest, SetDirectlyAndValidated) {
  TrainingArguments args;
  args.gradient_accumulation_steps = 0;
  EXPECT_EQ(error_of([&] { args.validate(); }), "--gradient_accumulation_steps must be at least 1, not 0");
  args = {};
  args.optim = "nothing";
  EXPECT_TRUE(contains(error_of([&] { args.validate(); }), "'nothing' is none of"));
  args = {};
  args.output_dir = "~/out";
  args.resume_from_checkpoint = "true";
  args.save_total_limit = 0;
  args.validate();
  EXPECT_EQ(args.output_dir, std::string(std::getenv("HOME")) + "/out");
  EXPECT_EQ(args.resume_from_checkpoint, "True");
  EXPECT_FALSE(args.save_total_limit);
  const TrainingArguments once = args;
  args.validate();
  EXPECT_EQ(args.output_dir, once.output_dir);
}

class TrainingArgumentsFile : public TrainingArgumentsTest {
 protected:
  TrainingArguments read(const std::string& text) {
    std::ofstream(file_) << text;
    return parsed({file_});
  }
  std::string error_in(const std::string& text) {
    return error_of([&] { read(text); });
  }

  const std::string file_ = (folder_ / "arguments.json").string();
};

TEST_F(TrainingArgumentsFile, KeysAreOptions) {
  const TrainingArguments args = read(R"({"bf16": true, "learning_rate": 3e-5, "max_steps": 20, "eval_steps": null,
      "output_dir": "x", "data_seed": 7, "lr_scheduler_kwargs": {"power": 2}, "lr_scheduler_type": "polynomial",
      "deepspeed": null, "fsdp": [],
      "no_cuda": true, "report_to": ["none"]})");
  EXPECT_TRUE(args.bf16);
  EXPECT_EQ(args.learning_rate, 3e-5);
  EXPECT_EQ(args.max_steps, 20);
  EXPECT_FALSE(args.eval_steps);
  EXPECT_EQ(args.output_dir, "x");
  EXPECT_EQ(args.data_seed, 7);
  EXPECT_EQ(io::parse_json(*args.lr_scheduler_kwargs, "kwargs"), io::Json({{"power", 2}}));
  EXPECT_EQ(notices_of({file_}),
            Words{file_ + ": no_cuda is accepted and has no effect: Hearth trains on the CPU only"});
}

TEST_F(TrainingArgumentsFile, FlagsAfterItCountMore) {
  const std::string file = write("job.json", R"({"max_steps": 3, "output_dir": "a"})").string();
  const TrainingArguments args = parsed({file, "--output_dir", "b"});
  EXPECT_EQ(args.max_steps, 3);
  EXPECT_EQ(args.output_dir, "b");
}

TEST_F(TrainingArgumentsFile, MayBeYaml) {
  const std::string text =
      "# a job\nbf16: yes\nlearning_rate: 3e-5\nmax_steps: 20\nsave_strategy: no\nlogging_steps: null\n"
      "data_seed: ~\noutput_dir: 'a b'\nreport_to: [html, wandb]\nlr_scheduler_type: polynomial\n"
      "lr_scheduler_kwargs:\n  power: 2\n";
  for (const char* name : {"job.yaml", "job.yml"}) {
    const TrainingArguments args = parsed({write(name, text).string(), "--max_steps", "2"});
    EXPECT_TRUE(args.bf16);
    EXPECT_EQ(args.learning_rate, 3e-5);
    EXPECT_EQ(args.max_steps, 2);
    EXPECT_EQ(args.save_strategy, Strategy::no);
    EXPECT_EQ(args.logging_steps, 500);
    EXPECT_FALSE(args.data_seed);
    EXPECT_EQ(args.output_dir, "a b");
    EXPECT_EQ(io::parse_json(*args.lr_scheduler_kwargs, "kwargs"), io::Json({{"power", 2}}));
  }
}

TEST_F(TrainingArgumentsFile, ErrorsOfYamlNameIt) {
  const auto error = [&](const std::string& text) { return error_of({write("job.yaml", text).string()}); };
  const std::string file = (folder_ / "job.yaml").string();
  EXPECT_EQ(error("max_stepz: 3"), file + ": there is no option max_stepz; did you mean max_steps?");
  EXPECT_EQ(error("quux: null"), file + ": there is no option quux");
  EXPECT_EQ(error("max_steps: many"), file + ": max_steps: 'many' is not a whole number");
  EXPECT_TRUE(contains(error("- max_steps"), file + ": expected options as keys"));
  EXPECT_TRUE(contains(error("a: b: c"), file));
  EXPECT_THROW(parsed({write("job.yaml", "quux: 1").string()}), UsageError);
}

TEST_F(TrainingArgumentsFile, ErrorsNameIt) {
  EXPECT_EQ(error_in(R"({"max_stepz": 20})"), file_ + ": there is no option max_stepz; did you mean max_steps?");
  EXPECT_EQ(error_in(R"({"max_steps": "many"})"), file_ + ": max_steps: 'many' is not a whole number");
  EXPECT_EQ(error_in(R"({"max_steps": [1, 2]})"), file_ + ": max_steps takes one value, not 2");
  EXPECT_TRUE(contains(error_in("[1]"), file_ + ": expected options as keys"));
  EXPECT_TRUE(contains(error_of({"/nowhere/x.json"}), "/nowhere/x.json"));
}

TEST_F(TrainingArgumentsFile, WhatIsWrittenIsReadBack) {
  const Words words{"--bf16", "--max_steps",   "9",  "--eval_strategy", "steps", "--learning_rate",
                    "0.1",    "--ddp_backend", "mpi"};
  TrainingArguments args;
  Arguments options;
  declare(options, args);
  options.parse(words);
  args.validate();
  const io::Json written = to_json(options.values());
  EXPECT_EQ(written.at("max_steps"), 9);
  EXPECT_EQ(written.at("bf16"), true);
  EXPECT_TRUE(written.at("data_seed").is_null());
  EXPECT_EQ(written.at("eval_steps"), 500);

  TrainingArguments again = read(io::dump_json(written, 2));
  Arguments options_again;
  declare(options_again, again);
  EXPECT_EQ(to_json(options_again.values()), written);
}

TEST_F(TrainingArgumentsTest, HelpMentionsEveryOption) {
  TrainingArguments args;
  Arguments options;
  declare(options, args);
  const std::string help = options.help(120);
  const auto values = options.values();
  EXPECT_GT(values.size(), 60u);
  for (const auto& value : values) EXPECT_TRUE(contains(help, "  --" + value.name)) << value.name;
  for (const char* name : {"no_cuda", "use_ipex", "deepspeed", "evaluation_strategy"})
    EXPECT_TRUE(contains(help, std::string("--") + name)) << name;
}

}  // namespace
}  // namespace hearth
