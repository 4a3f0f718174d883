// log_history holds the steps that the Trainer really made.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "hearth/train/trainer.h"
#include "hearth/train/training_plan.h"
#include "tests/train/toy.h"

namespace hearth {
namespace {

using Steps = std::vector<std::int64_t>;
using TrainerLog = TrainerTest;

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
  return std::sqrt(sum);
}

// The step that SGD makes shows the learning rate that was used, and the clipping.
TEST_F(TrainerLog, LogsTheLearningRateAndNormThatWereUsed) {
  for (const char* schedule : {"linear", "cosine", "constant_with_warmup", "inverse_sqrt"})
    for (const double limit : {0.0, 0.2}) {
      TrainingArguments args = arguments();
      args.optim = "sgd";
      args.lr_scheduler_type = schedule;
      args.learning_rate = 0.1;
      args.warmup_steps = 3;
      args.max_grad_norm = limit;
      args.eval_strategy = Strategy::steps;
      args.eval_steps = 1;
      ToyModel model;
      std::vector<std::vector<float>> weights{model.weights()};
      TrainerOptions trainer_options;
      trainer_options.evaluate = [&](const Trainer&) {
        return weights.push_back(model.weights()), Metrics{{"eval_x", 0}};
      };
      ToyTrainer trainer(model, args, toy_dataset(24), trainer_options);
      trainer.train();
      std::size_t step = 0;
      for (const io::Json& row : trainer.state().log_history) {
        if (!row.contains("loss")) continue;
        const double lr = number(row, "learning_rate"), norm = number(row, "grad_norm");
        const double expected = lr * (limit > 0 ? std::min(norm, limit) : norm);
        EXPECT_NEAR(distance(weights[step], weights[step + 1]), expected, 1e-4 * expected + 1e-7) << schedule << step;
        const auto at = static_cast<double>(step);
        if (step <= 3) {
          EXPECT_NEAR(lr, 0.1 * at / 3, 1e-12);
        } else if (std::string(schedule) == "linear") {
          EXPECT_NEAR(lr, 0.1 * (12 - at) / 9, 1e-12);
        }
        ++step;
      }
      EXPECT_EQ(step, 12u);
    }
}

TEST_F(TrainerLog, LogsMeansSinceTheLastRow) {
  TrainingArguments args = arguments();
  ToyModel every_step(0.1f), some_steps(0.1f), by_epoch(0.1f);
  ToyTrainer all(every_step, args, toy_dataset(24));
  all.train();
  const io::Json& rows = all.state().log_history;
  const auto mean = [&](std::size_t first, std::size_t last) {
    double sum = 0;
    for (std::size_t step = first; step <= last; ++step) sum += number(rows[step - 1], "loss");
    return sum / static_cast<double>(last - first + 1);
  };

  args.logging_steps = 5;
  args.logging_first_step = true;
  ToyTrainer fifth(some_steps, args, toy_dataset(24));
  fifth.train();
  const io::Json& some = fifth.state().log_history;
  EXPECT_EQ(steps_with(some, "loss"), Steps({1, 5, 10}));
  EXPECT_NEAR(number(some[1], "loss"), mean(2, 5), 1.01e-4);
  EXPECT_NEAR(number(some[2], "loss"), mean(6, 10), 1.01e-4);
  EXPECT_EQ(some[2].at("grad_norm"), rows[9].at("grad_norm"));
  EXPECT_EQ(some[2].at("learning_rate"), rows[9].at("learning_rate"));

  args.logging_strategy = Strategy::epoch;
  args.logging_first_step = false;
  ToyTrainer epochs(by_epoch, args, toy_dataset(24));
  epochs.train();
  const io::Json& each = epochs.state().log_history;
  EXPECT_EQ(steps_with(each, "loss"), Steps({6, 12}));
  EXPECT_NEAR(number(each[1], "loss"), mean(7, 12), 1.01e-4);
  EXPECT_EQ(each[0].at("grad_norm"), rows[5].at("grad_norm"));
  EXPECT_EQ(each[0].at("learning_rate"), rows[5].at("learning_rate"));
  EXPECT_EQ(by_epoch.weights(), every_step.weights());
}

TEST_F(TrainerLog, LogsNoFurtherThanToldTo) {
  TrainingArguments args = arguments();
  args.logging_strategy = Strategy::no;
  ToyModel model;
  ToyTrainer trainer(model, args, toy_dataset(24));
  trainer.train();
  EXPECT_EQ(steps_with(trainer.state().log_history, "loss"), Steps());
  EXPECT_EQ(steps_with(trainer.state().log_history, "train_loss"), Steps({12}));

  args.logging_strategy = Strategy::steps;
  args.logging_steps = 0.25;  // of 12
  args.include_num_input_tokens_seen = true;
  ToyTrainer quarters(model, args, toy_dataset(24));
  quarters.train();
  EXPECT_EQ(steps_with(quarters.state().log_history, "loss"), Steps({3, 6, 9, 12}));
  const auto data = toy_dataset(24);
  const std::int64_t tokens = std::accumulate(data->lengths.begin(), data->lengths.end(), std::int64_t{0});
  EXPECT_EQ(quarters.state().log_history[1].at("num_input_tokens_seen"), tokens);
  EXPECT_GT(quarters.state().log_history[1].at("train_tokens_per_second"), 0);
  EXPECT_GT(quarters.state().log_history[1].at("train_runtime"), 0);
  EXPECT_EQ(quarters.state().log_history.back().at("num_input_tokens_seen"), 2 * tokens);
}

TEST_F(TrainerLog, AnEarlyStopEndsTheEpochAndLogsIt) {
  TrainingArguments args = arguments();
  args.logging_strategy = Strategy::epoch;
  args.eval_strategy = Strategy::steps;
  args.eval_steps = 2;
  args.metric_for_best_model = "f1";
  args.early_stopping_patience = 1;
  TrainerOptions trainer_options;
  trainer_options.evaluate = [](const Trainer&) { return Metrics{{"eval_f1", 1.0}}; };
  ToyModel model;
  ToyTrainer trainer(model, args, toy_dataset(24), trainer_options);
  trainer.train();
  EXPECT_EQ(steps_with(trainer.state().log_history, "eval_f1"), Steps({2, 4}));
  EXPECT_EQ(steps_with(trainer.state().log_history, "loss"), Steps({4}));
}

TEST_F(TrainerLog, FiltersLossesThatAreNoNumbers) {
  for (const bool filter : {true, false}) {
    TrainingArguments args = arguments();
    args.logging_nan_inf_filter = filter;
    args.nan_policy = NanPolicy::ignore;
    args.logging_steps = 4;
    ToyModel model, undisturbed;
    model.nan_forward = 3;
    ToyTrainer trainer(model, args, toy_dataset(24));
    trainer.train();
    const io::Json& rows = trainer.state().log_history;
    if (!filter) {
      EXPECT_TRUE(std::isnan(number(rows[0], "loss")));
      EXPECT_FALSE(std::isnan(number(rows[1], "loss")));
      continue;
    }
    args.logging_steps = 1;
    ToyTrainer reference(undisturbed, args, toy_dataset(24));
    reference.train();
    double first_three = 0;  // the same until then
    for (std::size_t step = 0; step < 3; ++step) first_three += number(reference.state().log_history[step], "loss");
    EXPECT_NEAR(number(rows[0], "loss"), (first_three + first_three / 4) / 4, 1.01e-4);
    EXPECT_TRUE(std::isfinite(number(rows.back(), "train_loss")));
  }
}

TEST_F(TrainerLog, AnnouncesTheRunAsTheTrainer) {
  TrainingArguments args = arguments();
  args.per_device_train_batch_size = 1000;
  args.gradient_accumulation_steps = 1000;
  TrainingPlan plan;
  plan.processes = 2;
  plan.epochs = 3;
  plan.max_steps = 12345678;
  const LogCapture log;
  announce(plan, args, *toy_dataset(999), 108893186);
  EXPECT_EQ(log.infos,
            std::vector<std::string>({"***** Running training *****", "  Num examples = 999", "  Num Epochs = 3",
                                      "  Instantaneous batch size per device = 1,000",
                                      "  Total train batch size (w. parallel, distributed & accumulation) = 2,000,000",
                                      "  Gradient Accumulation steps = 1000", "  Total optimization steps = 12,345,678",
                                      "  Number of trainable parameters = 108,893,186"}));
}

TEST_F(TrainerLog, RowsHaveTheTrainersKeys) {
  TrainingArguments args = arguments();
  args.max_steps = 2;
  ToyModel model;
  ToyTrainer trainer(model, args, toy_dataset(24));
  trainer.train();
  const auto keys = [&](std::size_t row) {
    std::vector<std::string> names;
    for (const auto& [key, value] : trainer.state().log_history[row].items()) names.push_back(key);
    return names;
  };
  EXPECT_EQ(keys(0), std::vector<std::string>({"loss", "grad_norm", "learning_rate", "epoch", "step"}));
  EXPECT_EQ(keys(2), std::vector<std::string>({"train_runtime", "train_samples_per_second", "train_steps_per_second",
                                               "total_flos", "train_loss", "epoch", "step"}));
}

// The rate of an evaluation's verdict is that of the next update, and an evaluation at the start gives none.
TEST_F(TrainerLog, ALearningRateIsReducedOnAPlateau) {
  TrainingArguments args = arguments();
  args.num_train_epochs = 1;
  args.lr_scheduler_type = "reduce_lr_on_plateau";
  args.lr_scheduler_kwargs = R"({"factor": 0.5, "patience": 0})";
  args.warmup_steps = 3;  // without effect, as in the Trainer
  args.eval_strategy = Strategy::steps;
  args.eval_steps = 1;
  args.eval_on_start = true;
  const std::vector<double> losses{1, 3, 2, 2, 1, 2, 0};  // the first of them before any update
  std::size_t evaluations = 0;
  TrainerOptions trainer_options;
  trainer_options.evaluate = [&](const Trainer&) { return Metrics{{"eval_loss", losses.at(evaluations++)}}; };
  ToyModel model;
  ToyTrainer trainer(model, args, toy_dataset(24), trainer_options);
  trainer.train();
  std::vector<double> rates;
  for (const io::Json& row : trainer.state().log_history)
    if (row.contains("learning_rate")) rates.push_back(number(row, "learning_rate"));
  EXPECT_EQ(rates, std::vector<double>({1e-2, 1e-2, 1e-2, 5e-3, 5e-3, 2.5e-3}));
}

}  // namespace
}  // namespace hearth
