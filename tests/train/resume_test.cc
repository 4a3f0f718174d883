// A run that is interrupted and resumed ends as one that is not: weights, moments and logs, to the bit.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>

#include "hearth/io/checkpoint_folders.h"
#include "hearth/io/file.h"
#include "hearth/io/folder_checksums.h"
#include "hearth/train/program_flags.h"
#include "hearth/train/trainer.h"
#include "tests/train/toy.h"

namespace hearth {
namespace {

struct Interruption {};

// All files of a checkpoint folder by name.
std::map<std::string, std::string> files_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files[entry.path().filename().string()] = io::read_file(entry.path());
  return files;
}

class Resume : public TrainerTest {
 protected:
  // A metric that the weights decide; at a given step the run dies.
  static TrainerOptions trainer_options(const ToyModel& model, std::int64_t dies_at) {
    TrainerOptions result;
    result.evaluate = [&model, dies_at](const Trainer& trainer) {
      if (trainer.state().global_step == dies_at) throw Interruption();
      return Metrics{{"eval_f1", double{model.weights().back()}}};
    };
    return result;
  }

  // Trains to the end or to the interruption, and returns the logs.
  static std::string run(ToyModel& model, const TrainingArguments& args, std::int64_t dies_at,
                         const std::optional<std::filesystem::path>& checkpoint) {
    ToyTrainer trainer(model, args, toy_dataset(22), trainer_options(model, dies_at));
    try {
      trainer.train(checkpoint);
      EXPECT_EQ(dies_at, 0);
    } catch (const Interruption&) {
      EXPECT_EQ(trainer.state().global_step, dies_at);
    }
    return without_times(trainer.state().log_history);
  }
};

class ResumeInFormat : public Resume, public testing::WithParamInterface<const char*> {};

// Two epochs of 6 updates, the last window of an epoch one batch short; a checkpoint every 4 steps, so that runs go on
// within an epoch and between two logs.
TEST_P(ResumeInFormat, ContinuesBitForBit) {
  TrainingArguments args = arguments();
  args.per_device_train_batch_size = 2;
  args.gradient_accumulation_steps = 2;
  args.bf16 = std::string(GetParam()) == "bf16";
  args.fp16 = std::string(GetParam()) == "fp16";
  if (std::string(GetParam()) == "adamw_16bit") args.optim = GetParam();
  args.warmup_steps = 3;
  args.logging_steps = 3;
  args.save_strategy = Strategy::steps;
  args.save_steps = 4;
  args.eval_strategy = Strategy::steps;
  args.eval_steps = 1;
  ToyModel whole(0.1f);
  enlarge_classifier(whole);
  const std::string expected = run(whole, args, 0, {});
  EXPECT_EQ(checkpoints(), std::vector<std::int64_t>({4, 8, 12}));
  const auto expected_files = files_of(folder_ / "out" / "checkpoint-12");

  args.output_dir = (folder_ / "again").string();
  ToyModel first(0.1f), second(0.1f, 99), third(0.1f, 98);
  enlarge_classifier(first);
  run(first, args, 7, {});
  run(second, args, 10, io::last_checkpoint(args.output_dir));
  EXPECT_EQ(io::last_checkpoint(args.output_dir)->filename(), "checkpoint-8");
  const std::string resumed = run(third, args, 0, io::last_checkpoint(args.output_dir));
  EXPECT_EQ(third.weights(), whole.weights());
  EXPECT_EQ(resumed, expected);
  const auto resumed_files = files_of(folder_ / "again" / "checkpoint-12");
  ASSERT_EQ(resumed_files.size(), expected_files.size());
  for (const auto& [name, contents] : expected_files) EXPECT_EQ(resumed_files.at(name) == contents, true) << name;
  EXPECT_EQ(expected_files.contains("scaler.json"), args.fp16);
  EXPECT_EQ(warnings_.empty(), !args.fp16);
  if (args.fp16) {
    const io::Json scaler = io::parse_json(expected_files.at("scaler.json"), "scaler.json");
    EXPECT_GT(scaler.at("skipped"), 0);
    EXPECT_LT(scaler.at("skipped"), 10);
    EXPECT_EQ(scaler.at("scale").get<double>(), 65536 / std::pow(2.0, scaler.at("skipped").get<double>()));
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ResumeInFormat, testing::Values("fp32", "bf16", "fp16", "adamw_16bit"),
                         [](const auto& format) { return std::string(format.param); });

// An f1 that the weights decide, so that the learning rate depends on all before it.
TEST_F(Resume, OnAPlateau) {
  TrainingArguments args = arguments();
  args.lr_scheduler_type = "reduce_lr_on_plateau";
  args.lr_scheduler_kwargs = R"({"mode": "max", "factor": 0.7, "patience": 1, "cooldown": 1})";
  args.metric_for_best_model = "f1";
  args.eval_strategy = args.save_strategy = Strategy::steps;
  args.eval_steps = args.save_steps = 1;
  ToyModel whole(0.1f);
  const std::string expected = run(whole, args, 0, {});
  const auto last = files_of(folder_ / "out" / "checkpoint-12");
  EXPECT_LT(io::parse_json(last.at("scheduler.json"), "scheduler").at("plateau").at("learning_rate"), 1e-2);
  for (const char* name : {"checkpoint-1", "checkpoint-2", "checkpoint-5", "checkpoint-8", "checkpoint-11"}) {
    ToyModel rest(0.1f, 99);
    EXPECT_EQ(run(rest, args, 0, folder_ / "out" / name), expected) << name;
    EXPECT_EQ(rest.weights(), whole.weights()) << name;
    EXPECT_EQ(files_of(folder_ / "out" / "checkpoint-12").at("scheduler.json"), last.at("scheduler.json")) << name;
  }
  EXPECT_TRUE(warnings_.empty());
  args.lr_scheduler_type = "linear";
  args.lr_scheduler_kwargs.reset();
  run(whole, args, 0, {});
  args.lr_scheduler_type = "reduce_lr_on_plateau";
  run(whole, args, 0, folder_ / "out" / "checkpoint-5");
  ASSERT_EQ(warnings_.size(), 2u);
  EXPECT_TRUE(contains(warnings_[0], "takes a smaller f1 for better")) << warnings_[0];
  EXPECT_TRUE(contains(warnings_[1], "no state of reduce_lr_on_plateau")) << warnings_[1];
}

TEST_F(Resume, AtAnEpochsEnd) {
  for (const Strategy strategy : {Strategy::epoch, Strategy::steps}) {
    TrainingArguments args = arguments();
    args.output_dir = (folder_ / name_of(strategy)).string();
    args.save_strategy = strategy;
    args.save_steps = 6;
    args.eval_strategy = Strategy::epoch;
    args.logging_strategy = Strategy::epoch;
    ToyModel whole(0.1f), rest(0.1f, 99);
    const std::string expected = run(whole, args, 0, {});
    const std::string resumed = run(rest, args, 0, folder_ / name_of(strategy) / "checkpoint-6");
    EXPECT_EQ(resumed, expected) << name_of(strategy);
    EXPECT_EQ(rest.weights(), whole.weights()) << name_of(strategy);
  }
}

TEST_F(Resume, KeepsCountingEvaluationsWithoutGain) {
  TrainingArguments args = arguments();
  args.num_train_epochs = 10;
  args.eval_strategy = args.save_strategy = Strategy::steps;
  args.eval_steps = args.save_steps = 2;
  args.metric_for_best_model = "f1";
  args.early_stopping_patience = 3;
  const auto metric_at = [](std::int64_t step) { return step == 4 ? 50.0 : 40.0 - static_cast<double>(step); };
  const auto stops_at = [&](const std::optional<std::filesystem::path>& checkpoint) {
    ToyModel model;
    TrainerOptions trainer_options;
    trainer_options.evaluate = [&](const Trainer& running) {
      return Metrics{{"eval_f1", metric_at(running.state().global_step)}};
    };
    ToyTrainer trainer(model, args, toy_dataset(24), trainer_options);
    trainer.train(checkpoint);
    EXPECT_EQ(trainer.state().best_global_step, 4);
    EXPECT_EQ(trainer.state().best_metric, 50.0);
    return trainer.state().global_step;
  };
  EXPECT_EQ(stops_at({}), 10);
  for (const char* name : {"checkpoint-4", "checkpoint-6", "checkpoint-8"})
    EXPECT_EQ(stops_at(folder_ / "out" / name), 10) << name;
}

TEST_F(Resume, OfARunThatStoppedEarlyTrainsNothing) {
  TrainingArguments args = arguments();
  args.eval_strategy = args.save_strategy = Strategy::steps;
  args.eval_steps = args.save_steps = 2;
  args.metric_for_best_model = "f1";
  args.early_stopping_patience = 1;
  TrainerOptions trainer_options;
  trainer_options.evaluate = [](const Trainer&) { return Metrics{{"eval_f1", 1.0}}; };
  ToyModel stopped, again(0, 99);
  ToyTrainer(stopped, args, toy_dataset(24), trainer_options).train();
  EXPECT_EQ(checkpoints(), std::vector<std::int64_t>({2, 4}));
  ToyTrainer trainer(again, args, toy_dataset(24), trainer_options);
  trainer.train(io::last_checkpoint(args.output_dir));
  EXPECT_EQ(trainer.state().global_step, 4);
  EXPECT_EQ(again.weights(), stopped.weights());
  args.early_stopping_patience = 3;
  ToyTrainer patient(again, args, toy_dataset(24), trainer_options);
  patient.train(io::last_checkpoint(args.output_dir));
  EXPECT_EQ(patient.state().global_step, 8);
}

class ResumeMoved : public Resume {
 protected:
  // Six steps, the best of them the second, each with a checkpoint; the run dies at the fifth. Then "out" is renamed.
  TrainingArguments interrupted_and_moved() {
    TrainingArguments args = arguments();
    args.num_train_epochs = 1;
    args.eval_strategy = args.save_strategy = Strategy::steps;
    args.eval_steps = args.save_steps = 1;
    args.metric_for_best_model = "f1";
    args.load_best_model_at_end = true;
    ToyModel model;
    EXPECT_THROW(finish(model, args, {}, 5), Interruption);
    std::filesystem::rename(args.output_dir, folder_ / "moved");
    args.output_dir = (folder_ / "moved").string();
    return args;
  }

  static TrainerState finish(ToyModel& model, const TrainingArguments& args,
                             const std::optional<std::filesystem::path>& checkpoint, std::int64_t dies_at = 0) {
    TrainerOptions trainer_options;
    trainer_options.evaluate = [&](const Trainer& running) {
      const std::int64_t step = running.state().global_step;
      if (step == dies_at) throw Interruption();
      return Metrics{{"eval_f1", step == 2 ? 1.0 : 0.0}};
    };
    ToyTrainer trainer(model, args, toy_dataset(24), trainer_options);
    trainer.train(checkpoint);
    return trainer.state();
  }

  static std::vector<float> weights_in(const std::filesystem::path& folder) {
    ToyModel model(0, 7);
    model.load_weights(folder);
    return model.weights();
  }
};

TEST_F(ResumeMoved, FindsTheBestModelInTheRenamedFolder) {
  const TrainingArguments args = interrupted_and_moved();
  ToyModel model(0, 99);
  const TrainerState state = finish(model, args, folder_ / "moved" / "checkpoint-4");
  EXPECT_EQ(state.best_model_checkpoint, (folder_ / "moved" / "checkpoint-2").string());
  EXPECT_EQ(model.weights(), weights_in(folder_ / "moved" / "checkpoint-2"));
  EXPECT_EQ(TrainerState::load(folder_ / "moved" / "checkpoint-6").best_model_checkpoint, state.best_model_checkpoint);
  EXPECT_TRUE(warnings_.empty()) << warnings_[0];
}

TEST_F(ResumeMoved, FindsTheBestModelBesideTheCheckpoint) {
  TrainingArguments args = interrupted_and_moved();
  args.output_dir = (folder_ / "elsewhere").string();
  // Another run has written a checkpoint of the same step under the old name since.
  std::filesystem::create_directories(folder_ / "out");
  std::filesystem::copy(folder_ / "moved" / "checkpoint-1", folder_ / "out" / "checkpoint-2",
                        std::filesystem::copy_options::recursive);
  ToyModel model(0, 99);
  const TrainerState state = finish(model, args, folder_ / "moved" / "checkpoint-4");
  EXPECT_EQ(state.best_model_checkpoint, (folder_ / "moved" / "checkpoint-2").string());
  EXPECT_EQ(model.weights(), weights_in(folder_ / "moved" / "checkpoint-2"));
}

// What the run overwrites, at the stored path or in --output_dir, is of another run, and goes after the first step.
TEST_F(ResumeMoved, DoesNotTakeAModelThatItOverwritesForTheBest) {
  TrainingArguments args = interrupted_and_moved();
  std::filesystem::remove_all(folder_ / "moved" / "checkpoint-2");
  args.do_train = args.overwrite_output_dir = true;
  for (const char* output_dir : {"out", "other"}) {
    args.output_dir = (folder_ / output_dir).string();
    std::filesystem::create_directories(args.output_dir);
    std::filesystem::copy(folder_ / "moved" / "checkpoint-1", folder_ / output_dir / "checkpoint-2",
                          std::filesystem::copy_options::recursive);
    warnings_.clear();
    ToyModel model(0, 99);
    const TrainerState state = finish(model, args, folder_ / "moved" / "checkpoint-4");
    EXPECT_NE(state.best_model_checkpoint, (folder_ / output_dir / "checkpoint-2").string());
    EXPECT_EQ(model.weights(), weights_in(folder_ / output_dir / "checkpoint-6"));
    ASSERT_EQ(warnings_.size(), 1u);
    EXPECT_TRUE(contains(warnings_[0], "does not exist: the model keeps the weights of the last step"));
    std::filesystem::remove_all(args.output_dir);
  }
}

TEST_F(ResumeMoved, SaysSoWhereTheBestModelIsGone) {
  const TrainingArguments args = interrupted_and_moved();
  std::filesystem::remove_all(folder_ / "moved" / "checkpoint-2");
  ToyModel model(0, 99);
  finish(model, args, folder_ / "moved" / "checkpoint-4");
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(contains(warnings_[0], "checkpoint-2")) << warnings_[0];
}

TEST_F(Resume, EvaluatesOnStartToo) {
  TrainingArguments args = arguments();
  args.save_strategy = Strategy::steps;
  args.save_steps = 4;
  args.eval_on_start = true;
  TrainerOptions constant;
  constant.evaluate = [](const Trainer&) { return Metrics{{"eval_f1", 1.0}}; };
  ToyModel model(0.1f), rest(0.1f, 99);
  ToyTrainer(model, args, toy_dataset(22), constant).train();
  ToyTrainer resumed(rest, args, toy_dataset(22), constant);
  resumed.train(folder_ / "out" / "checkpoint-4");
  EXPECT_EQ(steps_with(resumed.state().log_history, "eval_f1"), std::vector<std::int64_t>({0, 4}));
  EXPECT_EQ(rest.weights(), model.weights());
}

TEST_F(Resume, WarnsOfOtherSettings) {
  TrainingArguments args = arguments();
  args.save_strategy = Strategy::steps;
  args.save_steps = 6;
  ToyModel model;
  ToyTrainer(model, args, toy_dataset(24)).train();
  args.logging_steps = 2;
  args.save_steps = 3;
  ToyTrainer(model, args, toy_dataset(24)).train(folder_ / "out" / "checkpoint-6");
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(contains(warnings_[0], ": logging_steps 1 -> 2, save_steps 6 -> 3"));
}

TEST_F(Resume, WarnsOfOtherFlagsAndData) {
  TrainingArguments args = arguments();
  args.save_strategy = Strategy::steps;
  args.save_steps = 6;
  const auto train = [&](std::int64_t items, const std::optional<std::filesystem::path>& checkpoint) {
    TrainingArguments copy = args;
    copy.validate();
    Arguments options;
    declare(options, copy);
    TrainerOptions trainer_options;
    trainer_options.flags = options.values();
    trainer_options.save_beside = [&](const std::filesystem::path& folder) {
      io::replace_file(folder / "training_args.json", io::dump_json(to_json(trainer_options.flags), 2));
    };
    ToyModel model;
    ToyTrainer(model, args, toy_dataset(items), trainer_options).train(checkpoint);
  };
  const std::filesystem::path checkpoint = folder_ / "out" / "checkpoint-6";
  train(24, {});
  args.disable_tqdm = false;
  args.num_threads = 1;
  args.logging_first_step = args.do_train = true;  // nothing that training depends on
  args.output_dir = (folder_ / "other").string();
  train(24, checkpoint);
  EXPECT_TRUE(warnings_.empty()) << warnings_[0];
  args.seed = 7;
  args.learning_rate = 2e-2;
  args.lr_scheduler_type = "cosine";
  args.per_device_train_batch_size = 2;
  train(23, checkpoint);
  ASSERT_EQ(warnings_.size(), 1u);
  for (const char* part :
       {": train_batch_size 4 -> 2, training data 24 items (lengths ", ") -> 23 items (lengths ", ", seed 42 -> 7, ",
        "learning_rate 0.01 -> 0.02", "lr_scheduler_type \"linear\" -> \"cosine\""})
    EXPECT_TRUE(contains(warnings_[0], part));
  EXPECT_FALSE(contains(warnings_[0], "per_device"));
}

TEST_F(Resume, OfAFinishedRunTrainsNothing) {
  TrainingArguments args = arguments();
  args.save_strategy = Strategy::steps;
  ToyModel whole(0.1f), again(0.1f, 99);
  run(whole, args, 0, {});
  ToyTrainer trainer(again, args, toy_dataset(22));
  const Metrics metrics = trainer.train(folder_ / "out" / "checkpoint-12");
  EXPECT_EQ(again.weights(), whole.weights());
  EXPECT_EQ(trainer.state().global_step, 12);
  EXPECT_EQ(metrics.at("train_steps_per_second"), 0.0);
}

TEST_F(Resume, MaySkipNoData) {
  TrainingArguments args = arguments();
  args.save_strategy = Strategy::steps;
  args.save_steps = 2;
  args.num_train_epochs = 1;
  args.train_sampling_strategy = Sampling::sequential;
  std::vector<std::int64_t> items;
  ToyModel model;
  ToyTrainer(model, args, toy_dataset(24)).train();
  ToyTrainer(model, args, toy_dataset(24, &items)).train(folder_ / "out" / "checkpoint-2");
  ASSERT_EQ(items.size(), 16u);
  EXPECT_EQ(items.front(), 8);
  items.clear();
  args.ignore_data_skip = true;
  ToyTrainer trainer(model, args, toy_dataset(24, &items));
  trainer.train(folder_ / "out" / "checkpoint-2");
  EXPECT_EQ(items.front(), 0);
  EXPECT_EQ(trainer.state().global_step, 6);
}

TEST_F(Resume, FromAModelAlone) {
  TrainingArguments args = arguments();
  args.save_strategy = Strategy::steps;
  args.save_steps = 4;
  args.save_only_model = true;
  ToyModel model;
  ToyTrainer(model, args, toy_dataset(24)).train();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out" / "checkpoint-4" / "optimizer.safetensors"));
  ToyTrainer trainer(model, args, toy_dataset(24));
  trainer.train(folder_ / "out" / "checkpoint-4");
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(contains(warnings_[0], "no optimizer state"));
  const io::Json& rows = trainer.state().log_history;
  EXPECT_EQ(rows.size(), 12u + 1);
  EXPECT_DOUBLE_EQ(rows[4].at("learning_rate").get<double>(), 1e-2 * 8 / 12);
  io::replace_file(folder_ / "out" / "checkpoint-4" / "optimizer.pt", "not a pickle");
  EXPECT_TRUE(contains(error_of([&] { run(model, args, 0, folder_ / "out" / "checkpoint-4"); }), "scheduler.pt"));
}

TEST_F(Resume, SaysWhyACheckpointDoesNotFit) {
  TrainingArguments args = arguments();
  args.save_strategy = Strategy::steps;
  args.save_steps = 4;
  args.optim = "sgd";
  ToyModel model;
  ToyTrainer(model, args, toy_dataset(24)).train();
  args.optim = "adamw_torch";
  const std::filesystem::path checkpoint = folder_ / "out" / "checkpoint-4";
  const auto error = [&](const std::filesystem::path& folder) {
    return error_of([&] { ToyTrainer(model, args, toy_dataset(24)).train(folder); });
  };
  EXPECT_TRUE(contains(error(checkpoint), "another --optim")) << error(checkpoint);
  TrainingArguments other = args;
  other.output_dir = (folder_ / "other").string();
  ToyTrainer(model, other, toy_dataset(24)).train();
  ASSERT_TRUE(warnings_.empty());
  other.optim = "sgd";
  ToyTrainer(model, other, toy_dataset(24)).train(folder_ / "other" / "checkpoint-4");
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(contains(warnings_[0], "contains optimizer state that this run's --optim does not use"));
  EXPECT_TRUE(contains(error(folder_ / "none"), "no checkpoint folder"));
  const std::filesystem::path narrow = folder_ / "narrow";
  std::filesystem::copy(checkpoint, narrow);
  for (const auto& folder : {checkpoint, narrow}) std::filesystem::remove(folder / io::kChecksumsFile);
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (const NamedParameter& each : model.parameters().named())
    tensors.emplace_back(each.name, each.name == "classifier.weight" ? Tensor({2, 16}, DType::f32) : each.value);
  io::write_safetensors(narrow / "model.safetensors", tensors);
  EXPECT_TRUE(contains(error(narrow), "narrow do not fit this model: classifier.weight has shape (2, 16), but (3, 16)"))
      << error(narrow);
  std::filesystem::resize_file(checkpoint / "model.safetensors", 100);
  EXPECT_TRUE(contains(error(checkpoint), "model.safetensors")) << error(checkpoint);
  std::ofstream(checkpoint / "trainer_state.json") << "{\"max_steps\": 12, \"global_step\": \"four\"}";
  EXPECT_TRUE(contains(error(checkpoint), "global_step")) << error(checkpoint);
}

}  // namespace
}  // namespace hearth
