#include "hearth/train/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "hearth/train/trainer.h"
#include "tests/train/toy.h"

namespace hearth {
namespace {

using Steps = std::vector<std::int64_t>;

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

class Checkpoints : public TrainerTest {
 protected:
  void make(std::initializer_list<std::int64_t> steps) const {
    for (const std::int64_t step : steps)
      std::filesystem::create_directories(folder_ / "out" / ("checkpoint-" + std::to_string(step)) / "inner");
  }

  TrainingArguments arguments_that_load_the_best() const {
    TrainingArguments args = arguments();
    args.save_strategy = args.eval_strategy = Strategy::epoch;
    args.load_best_model_at_end = true;
    args.metric_for_best_model = "f1";
    return args;
  }

  // Trains with a metric by step: the state at the end, and the weights at each evaluation.
  TrainerState train(const TrainingArguments& args, const std::map<std::int64_t, double>& f1 = {}) {
    TrainerOptions trainer_options;
    trainer_options.evaluate = [&](const Trainer& running) {
      const std::int64_t step = running.state().global_step;
      weights_at_[step] = model_.weights();
      if (at_evaluation_) at_evaluation_();
      return Metrics{{"eval_f1", f1.contains(step) ? f1.at(step) : 0.0}};
    };
    ToyTrainer trainer(model_, args, toy_dataset(24), trainer_options);
    trainer.train();
    return trainer.state();
  }

  std::filesystem::path out_ = folder_ / "out";
  ToyModel model_;
  std::map<std::int64_t, std::vector<float>> weights_at_;
  std::function<void()> at_evaluation_;
};

// A run that has made no step: its moments are those that a test writes, or those of a checkpoint.
struct Progress {
  explicit Progress(const char* optim) : optimizer({.name = optim}, ddp) {}

  void save(const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    model.save_pretrained(folder);
    save_progress(progress, optimizer.state(), folder);
  }
  std::map<std::string, std::vector<float>> moments() const {
    std::map<std::string, std::vector<float>> all;
    for (const auto& [name, values] : optimizer.state()) {
      const Tensor wide = ops::in_dtype(values, DType::f32);
      all[name] = {wide.data<float>(), wide.data<float>() + wide.size()};
    }
    return all;
  }

  ToyModel model;
  parallel::DistributedDataParallel ddp{model.parameters()};
  parallel::ShardedOptimizer optimizer;
  optim::LossScaler scaler{false};
  TrainerState state;
  SavedProgress progress{model, optimizer, scaler, state};
};

// Moments are stored in the dtype that the optimizer keeps them in, and every AdamW reads both dtypes.
TEST_F(Checkpoints, MomentsOfOneAdamWAreReadByTheOthers) {
  Progress wide("adamw_torch"), narrow("adamw_16bit"), wide_again("adamw_hf"), narrow_again("adamw_16bit");
  std::map<std::string, std::vector<float>> rounded;
  for (const auto& [name, values] : wide.optimizer.state())
    for (std::int64_t i = 0; i < values.size(); ++i) {
      values.data<float>()[i] = static_cast<float>(std::exp(0.1 * static_cast<double>(i % 50) - 9));
      rounded[name].push_back(static_cast<float>(BFloat16(values.data<float>()[i])));
    }
  wide.save(folder_ / "wide");
  load_progress(narrow.progress, folder_ / "wide");
  EXPECT_EQ(narrow.moments(), rounded);
  EXPECT_NE(wide.moments(), rounded);
  narrow.save(folder_ / "narrow");
  load_progress(wide_again.progress, folder_ / "narrow");
  EXPECT_EQ(wide_again.moments(), rounded);
  load_progress(narrow_again.progress, folder_ / "narrow");
  EXPECT_EQ(narrow_again.moments(), rounded);
  const auto size_in = [&](const char* name) {
    return std::filesystem::file_size(folder_ / name / "optimizer.safetensors");
  };
  EXPECT_LT(size_in("narrow"), 0.7 * static_cast<double>(size_in("wide")));
  EXPECT_EQ(warnings_, std::vector<std::string>{});
}

TEST_F(Checkpoints, MomentsInAnotherDtypeAreRefused) {
  Progress run("adamw_16bit");
  run.save(folder_ / "saved");
  optim::Optimizer::State state = run.optimizer.state();
  state[0].second = Tensor::zeros(state[0].second.shape(), DType::i32);
  io::write_safetensors(folder_ / "saved" / "optimizer.safetensors", state);
  EXPECT_TRUE(contains(error_of([&] { load_progress(run.progress, folder_ / "saved"); }),
                       state[0].first + " is in int32, but moments are fp32 or bf16"));
}

TEST_F(Checkpoints, RotationKeepsTheBestAndTheOneJustWritten) {
  make({2, 4, 6, 8, 10});
  rotate_checkpoints(out_, 3, out_ / "checkpoint-10", out_ / "checkpoint-2");
  EXPECT_EQ(checkpoints(), Steps({2, 8, 10}));
  rotate_checkpoints(out_, 1, out_ / "checkpoint-10", out_ / "checkpoint-2");
  EXPECT_EQ(checkpoints(), Steps({2, 10}));
  rotate_checkpoints(out_, 1, out_ / "checkpoint-2", "");
  EXPECT_EQ(checkpoints(), Steps({2}));
  rotate_checkpoints(folder_ / "none", 1, "", "");
}

TEST_F(Checkpoints, RotationRemovesWhatWasWrittenLongestAgo) {
  make({2, 4, 6, 90});
  const auto now = std::filesystem::last_write_time(out_);
  for (const auto& [name, age] : {std::pair{"2", 1}, {"4", 1}, {"6", 2}, {"90", 9}})
    std::filesystem::last_write_time(out_ / (std::string("checkpoint-") + name), now - std::chrono::hours(age));
  rotate_checkpoints(out_, 3, out_ / "checkpoint-4", "");
  EXPECT_EQ(checkpoints(), Steps({2, 4, 6}));
  rotate_checkpoints(out_, 1, out_ / "checkpoint-4", "");
  EXPECT_EQ(checkpoints(), Steps({4}));
}

TEST_F(Checkpoints, WhatCannotBeRemovedStaysWithAWarning) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may remove everything";
  make({2, 4});
  std::filesystem::permissions(out_ / "checkpoint-2", std::filesystem::perms::owner_read);
  rotate_checkpoints(out_, 1, out_ / "checkpoint-4", "");
  const std::filesystem::path hidden = out_ / ".checkpoint-2.removed";  // the next run tries again
  ASSERT_TRUE(std::filesystem::exists(hidden));
  std::filesystem::permissions(hidden, std::filesystem::perms::owner_all);
  EXPECT_EQ(checkpoints(), Steps({4}));
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(contains(warnings_[0], "checkpoint-2.removed could not be removed"));
}

TEST_F(Checkpoints, OfAnEarlierRunGiveWay) {
  make({4, 500});
  TrainingArguments args = arguments();
  args.save_strategy = Strategy::steps;
  args.save_steps = 6;
  args.save_total_limit = 1;
  train(args);
  EXPECT_EQ(checkpoints(), Steps({12}));
}

TEST_F(Checkpoints, OfAnEarlierRunAreNeverTheBest) {
  make({6});
  TrainingArguments args = arguments();
  args.save_strategy = args.eval_strategy = Strategy::steps;
  args.save_steps = 4;
  args.eval_steps = 2;
  args.load_best_model_at_end = true;
  args.metric_for_best_model = "f1";
  const TrainerState state = train(args, {{4, 5.0}, {6, 9.0}});  // 6 is not saved by this run
  EXPECT_EQ(state.best_global_step, 6);
  EXPECT_EQ(state.best_model_checkpoint, (out_ / "checkpoint-4").string());
  EXPECT_EQ(model_.weights(), weights_at_[4]);
}

TEST_F(Checkpoints, OfAnEarlierRunAreNotTheLastOfThisOne) {
  make({1});
  TrainingArguments args = arguments();
  args.save_strategy = args.eval_strategy = Strategy::steps;
  args.eval_steps = 1;
  args.save_steps = 4;
  std::map<std::int64_t, std::filesystem::path> last;
  TrainerOptions trainer_options;
  trainer_options.evaluate = [&](const Trainer& running) {
    last[running.state().global_step] = running.last_checkpoint();
    return Metrics{{"eval_f1", 1.0}};
  };
  ToyTrainer trainer(model_, args, toy_dataset(24), trainer_options);
  EXPECT_EQ(trainer.last_checkpoint(), "");
  trainer.train();
  EXPECT_EQ(last.at(4), "");
  EXPECT_EQ(last.at(5), out_ / "checkpoint-4");
  EXPECT_EQ(trainer.last_checkpoint(), out_ / "checkpoint-12");
}

TEST_F(Checkpoints, AreWrittenByStepsAndAtTheEnd) {
  TrainingArguments args = arguments();
  args.save_strategy = Strategy::steps;
  args.save_steps = 5;
  train(args);
  EXPECT_EQ(checkpoints(), Steps({5, 10, 12}));
  std::filesystem::remove_all(folder_ / "out");
  args.save_steps = 0.25;
  args.max_steps = 8;
  args.save_total_limit = 2;
  train(args);
  EXPECT_EQ(checkpoints(), Steps({6, 8}));
  std::filesystem::remove_all(folder_ / "out");
  args.save_steps = 0;  // at the end alone
  train(args);
  EXPECT_EQ(checkpoints(), Steps({8}));
}

TEST_F(Checkpoints, AreWrittenByEpochs) {
  TrainingArguments args = arguments();
  args.save_strategy = args.eval_strategy = args.logging_strategy = Strategy::epoch;
  const TrainerState state = train(args);
  EXPECT_EQ(checkpoints(), Steps({6, 12}));
  EXPECT_EQ(steps_with(state.log_history, "eval_f1"), Steps({6, 12}));
  std::filesystem::remove_all(folder_ / "out");
  args.max_steps = 8;  // the second epoch ends there
  const TrainerState cut = train(args);
  EXPECT_EQ(checkpoints(), Steps({6, 8}));
  EXPECT_EQ(steps_with(cut.log_history, "eval_f1"), Steps({6, 8}));
  EXPECT_EQ(steps_with(cut.log_history, "loss"), Steps({6, 8}));
  std::filesystem::remove_all(folder_ / "out");
  args.save_strategy = Strategy::no;
  train(args);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

TEST_F(Checkpoints, EvaluationsWaitForTheirDelay) {
  TrainingArguments args = arguments();
  args.eval_strategy = Strategy::steps;
  args.eval_steps = 3;
  args.eval_delay = 5;
  args.eval_on_start = true;
  EXPECT_EQ(steps_with(train(args).log_history, "eval_f1"), Steps({0, 6, 9, 12}));
  args.eval_strategy = Strategy::epoch;
  args.eval_delay = 2;
  args.eval_on_start = false;
  EXPECT_EQ(steps_with(train(args).log_history, "eval_f1"), Steps({12}));
}

TEST_F(Checkpoints, TheBestIsKeptAndLoadedAtTheEnd) {
  for (const bool greater : {true, false}) {
    std::filesystem::remove_all(folder_ / "out");
    TrainingArguments args = arguments();
    args.save_strategy = args.eval_strategy = Strategy::steps;
    args.save_steps = 2;
    args.eval_steps = 2;
    args.save_total_limit = 2;
    args.load_best_model_at_end = true;
    args.metric_for_best_model = "eval_f1";
    args.greater_is_better = greater;
    const double sign = greater ? 1 : -1;
    const TrainerState state =
        train(args, {{2, sign * 1}, {4, sign * 7}, {6, sign * 5}, {8, sign * 7}, {10, sign * 2}, {12, sign * 3}});
    EXPECT_EQ(checkpoints(), Steps({4, 12}));
    EXPECT_EQ(state.best_global_step, 4);
    EXPECT_EQ(state.best_metric, sign * 7);
    EXPECT_EQ(state.best_model_checkpoint, (folder_ / "out" / "checkpoint-4").string());
    EXPECT_EQ(model_.weights(), weights_at_[4]);
    EXPECT_NE(model_.weights(), weights_at_[12]);
    EXPECT_EQ(TrainerState::load(folder_ / "out" / "checkpoint-12").best_model_checkpoint, state.best_model_checkpoint);
  }
}

TEST_F(Checkpoints, TheBestOfThoseSavedIsLoaded) {
  TrainingArguments args = arguments();
  args.save_strategy = args.eval_strategy = Strategy::steps;
  args.save_steps = 4;
  args.eval_steps = 2;
  args.load_best_model_at_end = true;
  args.metric_for_best_model = "f1";
  const TrainerState state = train(args, {{4, 5.0}, {6, 9.0}});  // 6 was not saved
  EXPECT_EQ(state.best_global_step, 6);
  EXPECT_EQ(state.best_model_checkpoint, (folder_ / "out" / "checkpoint-4").string());
  EXPECT_EQ(model_.weights(), weights_at_[4]);
}

TEST_F(Checkpoints, OnlyTheBestAreWrittenWhereAskedFor) {
  TrainingArguments args = arguments();
  args.save_strategy = Strategy::best;
  args.eval_strategy = Strategy::steps;
  args.eval_steps = 2;
  args.metric_for_best_model = "f1";
  train(args, {{2, 1.0}, {4, 3.0}, {6, 2.0}, {8, 3.0}, {10, 4.0}, {12, 0.0}});
  EXPECT_EQ(checkpoints(), Steps({2, 4, 10}));
}

TEST_F(Checkpoints, ALostBestModelIsNoReasonToFail) {
  at_evaluation_ = [&] { std::filesystem::remove_all(out_ / "checkpoint-6"); };
  train(arguments_that_load_the_best(), {{6, 2.0}});
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(contains(warnings_[0], "checkpoint-6")) << warnings_[0];
}

TEST_F(Checkpoints, ADamagedBestModelIsNoReasonToFail) {
  at_evaluation_ = [&] {
    const std::filesystem::path best = out_ / "checkpoint-6" / "model.safetensors";
    if (std::filesystem::exists(best)) {
      std::string contents = io::read_file(best);
      contents.back() = static_cast<char>(contents.back() ^ 1);
      io::replace_file(best, contents);
    }
  };
  train(arguments_that_load_the_best(), {{6, 2.0}});
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(contains(warnings_[0], "checkpoint-6/model.safetensors does not have the checksum")) << warnings_[0];
  EXPECT_EQ(model_.weights(), weights_at_[12]);
}

TEST_F(Checkpoints, StopEarlyWhenNothingGetsBetter) {
  TrainingArguments args = arguments_that_load_the_best();
  args.num_train_epochs = 6;
  args.early_stopping_patience = 2;
  const std::map<std::int64_t, double> f1{{6, 1.0}, {12, 1.5}, {18, 1.6}, {24, 1.7}};
  EXPECT_EQ(train(args, f1).global_step, 36);
  args.early_stopping_threshold = 0.2;  // 1.6 and 1.7 are better, but not by enough
  const TrainerState state = train(args, f1);
  EXPECT_EQ(state.global_step, 24);
  EXPECT_EQ(state.best_global_step, 24);
  EXPECT_EQ(state.evaluations_without_gain, 2);
  args.metric_for_best_model = "accuracy";
  EXPECT_TRUE(contains(error_of([&] { train(args, f1); }), "gives no eval_accuracy; it gives eval_f1"));
}

TEST_F(Checkpoints, StoppingEarlyWritesNoneOfItsOwn) {
  TrainingArguments args = arguments();
  args.save_strategy = args.eval_strategy = Strategy::steps;
  args.save_steps = 4;
  args.eval_steps = 2;
  args.metric_for_best_model = "f1";
  args.early_stopping_patience = 2;
  EXPECT_EQ(train(args, {{2, 1.0}}).global_step, 6);
  EXPECT_EQ(checkpoints(), Steps({4}));
}

TEST_F(Checkpoints, AMetricThatIsNoNumberIsNeverTheBest) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  TrainingArguments args = arguments();
  args.eval_strategy = Strategy::steps;
  args.eval_steps = 2;
  args.metric_for_best_model = "f1";
  const TrainerState state = train(args, {{2, kNan}, {4, -1.0}, {6, kNan}, {8, -2.0}, {10, kNan}, {12, kNan}});
  EXPECT_EQ(state.best_metric, -1.0);
  EXPECT_EQ(state.best_global_step, 4);
  EXPECT_EQ(state.evaluations_without_gain, 4);
  const TrainerState none = train(args, {{2, kNan}, {4, kNan}, {6, kNan}, {8, kNan}, {10, kNan}, {12, kNan}});
  EXPECT_EQ(none.best_metric, std::nullopt);
  EXPECT_EQ(none.evaluations_without_gain, 6);
}

TEST_F(Checkpoints, HoldWhatResumingNeeds) {
  const std::set<std::string> model{"checksums.json", "config.json", "model.safetensors", "trainer_state.json"};
  const std::set<std::string> progress{"optimizer.safetensors", "scheduler.json"};
  for (const std::string mode : {"whole", "fp16", "model"}) {
    TrainingArguments args = arguments();
    args.output_dir = (folder_ / mode).string();
    args.save_strategy = Strategy::steps;
    args.fp16 = mode == "fp16";
    args.save_only_model = mode == "model";
    train(args);
    std::set<std::string> expected = model;
    if (mode != "model") expected.insert(progress.begin(), progress.end());
    if (mode == "fp16") expected.insert("scaler.json");
    EXPECT_EQ(names_in(folder_ / mode / "checkpoint-12"), expected) << mode;
  }
}

}  // namespace
}  // namespace hearth
