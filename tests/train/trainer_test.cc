#include "hearth/train/trainer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hearth/cpu/parallel.h"
#include "hearth/data/sampler.h"
#include "tests/train/toy.h"

namespace hearth {
namespace {

using Steps = std::vector<std::int64_t>;

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(double{a[i]} - b[i]));
  return largest;
}

TEST_F(TrainerTest, LossesFall) {
  TrainingArguments args = arguments();
  args.num_train_epochs = 8;
  ToyModel model(0.1f);
  ToyTrainer trainer(model, args, toy_dataset(24));
  const Metrics metrics = trainer.train();
  const io::Json& rows = trainer.state().log_history;
  ASSERT_EQ(rows.size(), 48u + 1);
  EXPECT_GT(number(rows[0], "loss"), 0.8);
  EXPECT_LT(number(rows[47], "loss"), 0.3 * number(rows[0], "loss"));
  double sum = 0;
  for (std::size_t step = 0; step < 48; ++step) sum += number(rows[step], "loss");
  EXPECT_NEAR(number(metrics, "train_loss"), sum / 48, 1e-4);
  EXPECT_EQ(metrics.at("epoch"), 8.0);
}

TEST_F(TrainerTest, GradientCheckpointingChangesNothing) {
  std::vector<float> weights[2];
  for (const bool checkpointing : {false, true}) {
    TrainingArguments args = arguments();
    args.gradient_checkpointing = checkpointing;
    ToyModel model(0.1f);
    ToyTrainer(model, args, toy_dataset(24)).train();
    weights[checkpointing] = model.weights();
  }
  EXPECT_EQ(weights[0], weights[1]);
}

// Dropout is a function of a sample's number in the step, so that it may be on. SGD, because AdamW makes steps of
// gradients that are mere rounding.
TEST_F(TrainerTest, AccumulationEqualsALargerBatch) {
  for (const float dropout : {0.0f, 0.1f}) {
    TrainingArguments args = arguments();
    args.optim = "sgd";
    args.learning_rate = 0.1;
    args.per_device_train_batch_size = 8;
    ToyModel whole(dropout), parts(dropout);
    ToyTrainer in_whole(whole, args, toy_dataset(32));
    in_whole.train();
    args.per_device_train_batch_size = 4;
    args.gradient_accumulation_steps = 2;
    ToyTrainer in_parts(parts, args, toy_dataset(32));
    in_parts.train();
    EXPECT_LE(largest_difference(whole.weights(), parts.weights()), 1e-5);
    const io::Json &a = in_whole.state().log_history, &b = in_parts.state().log_history;
    ASSERT_EQ(a.size(), b.size());
    ASSERT_EQ(a.size(), 8u + 1);
    for (std::size_t row = 0; row < 8; ++row) {
      EXPECT_NEAR(number(a[row], "loss"), number(b[row], "loss"), 1.01e-4);
      EXPECT_NEAR(number(a[row], "grad_norm"), number(b[row], "grad_norm"), 1e-5);
      EXPECT_EQ(a[row].at("epoch"), b[row].at("epoch"));
    }
  }
}

TEST_F(TrainerTest, ShortLastBatchesAndWindows) {
  TrainingArguments args = arguments();
  args.gradient_accumulation_steps = 2;
  args.num_train_epochs = 1.5;  // of 3 batches, 2 updates each
  ToyModel model;
  ToyTrainer trainer(model, args, toy_dataset(10));
  EXPECT_DOUBLE_EQ(number(trainer.train(), "epoch"), 1 + 2.0 / 3);
  EXPECT_EQ(trainer.state().global_step, 3);
  EXPECT_EQ(trainer.state().num_train_epochs, 2);
  EXPECT_EQ(steps_with(trainer.state().log_history, "loss"), Steps({1, 2, 3}));
  EXPECT_DOUBLE_EQ(number(trainer.state().log_history[1], "epoch"), 1.0);

  args.dataloader_drop_last = true;  // 2 batches, 1 update
  args.num_train_epochs = 2;
  std::vector<std::int64_t> items;
  ToyTrainer dropping(model, args, toy_dataset(10, &items));
  dropping.train();
  EXPECT_EQ(dropping.state().global_step, 2);
  EXPECT_EQ(items.size(), 16u);
}

TEST_F(TrainerTest, MaxStepsDecidesInsteadOfEpochs) {
  for (const std::int64_t steps : {4, 9}) {
    TrainingArguments args = arguments();
    args.max_steps = steps;
    ToyModel model;
    ToyTrainer trainer(model, args, toy_dataset(24));
    trainer.train();
    EXPECT_EQ(trainer.state().global_step, steps);
    EXPECT_EQ(trainer.state().max_steps, steps);
    EXPECT_EQ(trainer.state().num_train_epochs, steps == 4 ? 1 : 2);
    EXPECT_DOUBLE_EQ(trainer.state().epoch, static_cast<double>(steps) / 6);
  }
}

TEST_F(TrainerTest, SmoothsLabels) {
  constexpr float kFactor = 0.3f;
  TrainingArguments args = arguments();
  args.label_smoothing_factor = kFactor;
  args.max_steps = 1;
  args.train_sampling_strategy = Sampling::sequential;
  ToyModel model, untouched;
  ToyTrainer trainer(model, args, toy_dataset(24));
  trainer.train();

  const std::vector<std::int64_t> items{0, 1, 2, 3};
  const BatchPtr batch = toy_dataset(24)->collate(items, 0);
  ops::Context ctx;
  const Var logits = untouched.forward(ctx, batch).logits[0].second;
  double loss = 0;
  for (std::size_t row = 0; row < 4; ++row) {
    const float* x = logits.value().data<float>() + row * kToyClasses;
    const double log_sum = std::log(std::exp(x[0]) + std::exp(x[1]) + std::exp(x[2]));
    const double mean = log_sum - (x[0] + x[1] + x[2]) / 3.0;
    loss += (1 - kFactor) * (log_sum - x[batch->labels.at("labels")[row]]) + kFactor * mean;
  }
  EXPECT_NEAR(number(trainer.state().log_history[0], "loss"), loss / 4, 1e-4);
}

TEST_F(TrainerTest, VisitsItemsInTheOrderAskedFor) {
  const auto visited = [&](const std::function<void(TrainingArguments&)>& set) {
    TrainingArguments args = arguments();
    set(args);
    std::vector<std::int64_t> items;
    ToyModel model;
    {
      ToyTrainer trainer(model, args, toy_dataset(22, &items));
      trainer.train();
    }
    return items;
  };
  const auto epochs = [](const std::function<std::vector<std::int64_t>(std::int64_t)>& order) {
    std::vector<std::int64_t> all = order(0);
    for (const std::int64_t item : order(1)) all.push_back(item);
    return all;
  };
  EXPECT_EQ(visited([](TrainingArguments&) {}), epochs([](auto e) { return data::shuffled_order(22, 42, e); }));
  EXPECT_EQ(visited([](TrainingArguments& args) { args.seed = 5; }),
            epochs([](auto e) { return data::shuffled_order(22, 5, e); }));
  EXPECT_EQ(visited([](TrainingArguments& args) { args.data_seed = 6; }),
            epochs([](auto e) { return data::shuffled_order(22, 6, e); }));
  EXPECT_EQ(visited([](TrainingArguments& args) { args.train_sampling_strategy = Sampling::sequential; }),
            epochs([](auto) { return data::sequential_order(22); }));
  const std::vector<std::int64_t> lengths = toy_dataset(22)->lengths;
  EXPECT_EQ(visited([](TrainingArguments& args) { args.group_by_length = true; }),
            epochs([&](auto e) { return data::length_grouped_order(lengths, 4, 42, e); }));
  EXPECT_EQ(visited([](TrainingArguments& args) {
              args.group_by_length = true;
              args.gradient_accumulation_steps = 2;
            }),
            epochs([&](auto e) { return data::length_grouped_order(lengths, 8, 42, e); }));
}

// Enough tokens for several tiles.
TEST_F(TrainerTest, BitsDoNotDependOnTheNumberOfThreads) {
  for (const char* format : {"fp32", "bf16", "fp16"}) {
    std::vector<std::vector<float>> weights;
    for (const int threads : {1, 2, 3}) {
      cpu::set_num_threads(threads);
      TrainingArguments args = arguments();
      args.per_device_train_batch_size = 160;
      args.max_steps = 3;
      args.bf16 = std::string(format) == "bf16";
      args.fp16 = std::string(format) == "fp16";
      ToyModel model(0.1f);
      ToyTrainer trainer(model, args, toy_dataset(320));
      trainer.train();
      weights.push_back(model.weights());
      EXPECT_NE(model.weights(), ToyModel(0.1f).weights()) << format;
    }
    EXPECT_EQ(weights[0], weights[1]) << format;
    EXPECT_EQ(weights[0], weights[2]) << format;
  }
}

TEST_F(TrainerTest, SeedsDecide) {
  const auto trained = [&](std::int64_t seed) {
    TrainingArguments args = arguments();
    args.seed = seed;
    args.data_seed = 1;  // only dropout differs
    args.max_steps = 2;
    ToyModel model(0.1f);
    ToyTrainer(model, args, toy_dataset(24)).train();
    return model.weights();
  };
  EXPECT_EQ(trained(1), trained(1));
  EXPECT_NE(trained(1), trained(2));
}

// SGD, whose steps grow with the gradients: a loss scale that is not taken out again would show.
TEST_F(TrainerTest, MixedPrecisionStaysNearFp32) {
  TrainingArguments args = arguments();
  args.optim = "sgd";
  args.learning_rate = 0.1;
  args.max_grad_norm = 0;
  ToyModel exact;
  ToyTrainer(exact, args, toy_dataset(24)).train();
  for (const bool half : {false, true}) {
    args.bf16 = !half;
    args.fp16 = half;
    ToyModel rounded;
    ToyTrainer trainer(rounded, args, toy_dataset(24));
    trainer.train();
    const double difference = largest_difference(rounded.weights(), exact.weights());
    EXPECT_GT(difference, half ? 1e-5 : 1e-4);
    EXPECT_LT(difference, half ? 4e-3 : 3e-2);
  }
}

TEST_F(TrainerTest, DropoutDiffersFromStepToStep) {
  for (const float dropout : {0.0f, 0.1f}) {
    TrainingArguments args = arguments();
    args.train_sampling_strategy = Sampling::sequential;  // and one batch per epoch: always the same one
    args.learning_rate = 0;
    ToyModel model(dropout);
    ToyTrainer trainer(model, args, toy_dataset(4));
    trainer.train();
    const io::Json& rows = trainer.state().log_history;
    EXPECT_EQ(number(rows[0], "grad_norm") == number(rows[1], "grad_norm"), dropout == 0);
  }
}

TEST_F(TrainerTest, TrainsAnewWhenAskedAgain) {
  TrainingArguments args = arguments();
  args.fp16 = true;
  ToyModel model(0.1f);
  enlarge_classifier(model);
  const Tensor start = model.parameters().master().clone();
  ToyTrainer trainer(model, args, toy_dataset(24));
  const Metrics first = trainer.train();
  EXPECT_GT(number(first, "train_skipped_steps"), 0);
  const std::string log = without_times(trainer.state().log_history);
  const std::vector<float> weights = model.weights();
  model.parameters().master().copy_from(start);
  model.parameters().mark_changed();
  trainer.train();
  EXPECT_EQ(model.weights(), weights);
  EXPECT_EQ(without_times(trainer.state().log_history), log);
}

TEST_F(TrainerTest, PredictsInOrderWithoutDropout) {
  ToyModel model(0.5f);
  TrainingArguments args = arguments();
  args.per_device_eval_batch_size = 5;
  ToyTrainer trainer(model, args, {});
  std::vector<std::int64_t> items;
  std::vector<float> logits;
  trainer.predict_batches(*toy_dataset(12),
                          [&](std::span<const std::int64_t> some, const Batch&, const nn::ModelOutput& output) {
                            items.insert(items.end(), some.begin(), some.end());
                            const Tensor& values = output.logits[0].second.value();
                            logits.insert(logits.end(), values.data<float>(), values.data<float>() + values.size());
                          });
  EXPECT_EQ(items, data::sequential_order(12));
  ops::Context ctx;
  const BatchPtr batch = toy_dataset(12)->collate(items, 0);
  const Tensor expected = model.forward(ctx, batch).logits[0].second.value();
  ASSERT_EQ(std::ssize(logits), expected.size());
  for (std::size_t i = 0; i < logits.size(); ++i) EXPECT_NEAR(logits[i], expected.data<float>()[i], 1e-5);
}

TEST_F(TrainerTest, SaysWhatIsMissingBeforeTraining) {
  ToyModel model;
  TrainingArguments args = arguments();
  const auto error = [&](DatasetPtr data) {
    return error_of([&] { ToyTrainer(model, args, std::move(data)).train(); });
  };
  EXPECT_TRUE(contains(error(toy_dataset(0)), "nothing to train on")) << error(toy_dataset(0));
  EXPECT_TRUE(contains(error(nullptr), "no data to train on")) << error(nullptr);
  args.eval_strategy = Strategy::epoch;
  EXPECT_TRUE(contains(error(toy_dataset(24)), "needs something to evaluate on"));
}

// As the Trainer: the linear schedule of zero steps is at 0 from the start, and training stops after a step.
TEST_F(TrainerTest, ZeroStepsAreOneAtLearningRateZero) {
  TrainingArguments args = arguments();
  args.max_steps = 0;
  args.save_strategy = Strategy::steps;
  ToyModel model;
  const std::vector<float> before = model.weights();
  ToyTrainer trainer(model, args, toy_dataset(24));
  const Metrics metrics = trainer.train();
  EXPECT_EQ(trainer.state().global_step, 1);
  EXPECT_EQ(trainer.state().max_steps, 0);
  EXPECT_EQ(number(trainer.state().log_history[0], "learning_rate"), 0);
  EXPECT_EQ(number(metrics, "train_loss"), trainer.state().loss_sum);
  EXPECT_EQ(model.weights(), before);
  EXPECT_EQ(checkpoints(), std::vector<std::int64_t>({1}));
}

TEST_F(TrainerTest, NoEpochsAreNoSteps) {
  TrainingArguments args = arguments();
  args.num_train_epochs = 0;
  ToyModel model;
  ToyTrainer trainer(model, args, toy_dataset(24));
  trainer.train();
  EXPECT_EQ(trainer.state().global_step, 0);
}

}  // namespace
}  // namespace hearth
