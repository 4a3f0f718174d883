// NaN and infinity in training: where they come from is named, and they reach no checkpoint and no result.
#include "hearth/train/nan_guard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <mutex>

#include "hearth/base/not_finite_error.h"
#include "tests/parallel/toy_team.h"
#include "tests/train/toy.h"

namespace hearth {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

using Steps = std::vector<std::int64_t>;

Tensor weight(ToyModel& model, std::string_view name) {
  for (const NamedParameter& each : model.parameters().named())
    if (each.name == name) return each.value;
  throw Error("no such weight");
}

void fill(ToyModel& model, std::string_view name, float value) {
  const Tensor values = weight(model, name);
  std::fill_n(values.data<float>(), values.size(), value);
  model.parameters().mark_changed();
}

// Forward is finite, but the gradient of the last norm is not.
void make_gradient_overflow(ToyModel& model) {
  fill(model, "layer.1.output_norm.weight", 0);
  const Tensor classifier = weight(model, "classifier.weight");
  for (std::int64_t i = 0; i < classifier.size(); ++i)
    classifier.data<float>()[i] = std::array{3e38f, -3e38f, 0.0f}[static_cast<std::size_t>(i / classifier.row_size())];
}

class NanGuardTest : public TrainerTest {
 protected:
  TrainingArguments arguments(NanPolicy policy = NanPolicy::stop) const {
    TrainingArguments args = TrainerTest::arguments();
    args.nan_policy = policy;
    args.train_sampling_strategy = Sampling::sequential;
    return args;
  }

  // The sentence with which training stops; the weights must be as they were.
  static std::string stop_of(ToyModel& model, const TrainingArguments& args) {
    const std::vector<float> before = model.weights();
    ToyTrainer trainer(model, args, toy_dataset(24));
    try {
      trainer.train();
    } catch (const NotFiniteError& error) {
      const std::vector<float> after = model.weights();
      EXPECT_EQ(std::memcmp(before.data(), after.data(), before.size() * sizeof(float)), 0);
      return error.what();
    }
    return "no NotFiniteError";
  }
  static void expect_all(const std::string& sentence, const std::vector<std::string>& parts) {
    EXPECT_EQ(sentence.find('\n'), sentence.npos);
    for (const std::string& part : parts) EXPECT_TRUE(contains(sentence, part));
  }
  std::size_t warnings_with(std::string_view part) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(warnings_, [&](const std::string& each) { return each.find(part) != each.npos; }));
  }
};

TEST_F(NanGuardTest, StopsBeforeTheUpdateAndNamesTheWeight) {
  for (const bool bf16 : {false, true}) {
    TrainingArguments args = arguments();
    args.bf16 = bf16;
    ToyModel model(0.1f);
    weight(model, "layer.0.key.weight").data<float>()[7] = kNan;
    expect_all(stop_of(model, args),
               {"training stopped at step 1, before its update: the loss is NaN and the gradient norm NaN",
                "first came NaN in the weight layer.0.key.weight;", "there is no checkpoint of this run",
                "--learning_rate below 0.01", "training data"});
  }
}

TEST_F(NanGuardTest, NamesAGradientThatOverflows) {
  for (const bool checkpointing : {false, true}) {
    TrainingArguments args = arguments();
    args.gradient_checkpointing = checkpointing;
    args.per_device_train_batch_size = 1;
    ToyModel model;
    make_gradient_overflow(model);
    expect_all(stop_of(model, args),
               {"the loss is 1.099 and the gradient norm", "in the gradients of layer norm layer.1.output_norm;"});
  }
}

TEST_F(NanGuardTest, FindsTheFaultInALaterMicroBatchAndInFrozenLayers) {
  TrainingArguments args = arguments();
  args.per_device_train_batch_size = 1;
  args.gradient_accumulation_steps = 3;
  ToyModel model(0, 1, [](std::string_view name) { return !name.starts_with("classifier"); });
  const std::int32_t token = ToyDataset::token(2, 0);
  weight(model, "embeddings.word_embeddings.weight").data<float>()[token * 16 + 3] = kInfinity;
  model.parameters().mark_changed();
  expect_all(stop_of(model, args), {"step 1", "an infinity in the weight embeddings.word_embeddings.weight"});
}

TEST_F(NanGuardTest, AnInfiniteLossWithFiniteGradientsStops) {
  ToyModel model;
  const Tensor bias = weight(model, "classifier.bias");
  bias.data<float>()[0] = 3e38f;
  bias.data<float>()[1] = bias.data<float>()[2] = -3e38f;
  expect_all(stop_of(model, arguments()),
             {"the loss is inf", "first came an infinity in the output of loss after classifier"});
}

TEST_F(NanGuardTest, AFaultThatDoesNotComeAgainIsTheMachines) {
  ToyModel model;
  model.nan_forward = 0;
  expect_all(stop_of(model, arguments()), {"the loss is NaN", "finite numbers when it is run again"});
}

// Only the second rank has the token whose embedding is infinite.
TEST_F(NanGuardTest, AllRanksSayWhatTheRankWithTheFaultFound) {
  for (const bool checks_ops : {false, true}) {
    TrainingArguments args = arguments();
    args.per_device_train_batch_size = 1;
    if (checks_ops) args.debug = {"underflow_overflow"};
    std::vector<std::string> sentences(2);
    const std::vector<std::int32_t> of_first{ToyDataset::token(0, 0), ToyDataset::token(0, 1)};
    const std::int32_t token = ToyDataset::token(1, 0);
    ASSERT_EQ(std::ranges::count(of_first, token), 0);
    comm::run_threads(2, [&](comm::ProcessGroup& group) {
      ToyModel model;
      weight(model, "embeddings.word_embeddings.weight").data<float>()[token * 16] = kInfinity;
      ToyTrainer trainer(model, args, toy_dataset(24), {}, parallel::team_of(group, group.rank()));
      sentences[static_cast<std::size_t>(group.rank())] = error_of([&] { trainer.train(); });
    });
    EXPECT_EQ(sentences[0], sentences[1]);
    expect_all(sentences[0], {"step 1", "an infinity in the weight embeddings.word_embeddings.weight on rank 1;"});
  }
}

TEST_F(NanGuardTest, SkipLeavesTheStepOut) {
  ToyModel model;
  model.nan_forward = 3;
  ToyTrainer trainer(model, arguments(NanPolicy::skip), toy_dataset(24));
  const Metrics metrics = trainer.train();
  EXPECT_EQ(number(metrics, "train_skipped_steps"), 1);
  EXPECT_EQ(trainer.state().global_step, 12);
  EXPECT_EQ(warnings_with("step 4 skipped: the loss is NaN"), 1u);
  EXPECT_EQ(warnings_.size(), 1u);
}

TEST_F(NanGuardTest, SkipStopsAfterFiftyInARow) {
  TrainingArguments args = arguments(NanPolicy::skip);
  args.max_steps = 60;
  ToyModel model;
  fill(model, "classifier.bias", kNan);
  expect_all(stop_of(model, args), {"step 50, the last of 50 skipped in a row", "NaN in the weight classifier.bias"});
  EXPECT_EQ(warnings_with("skipped: the loss is NaN"), 49u);
}

TEST_F(NanGuardTest, SkipReturnsNoBadModel) {
  TrainingArguments args = arguments(NanPolicy::skip);
  args.max_steps = 2;
  ToyModel model;
  fill(model, "classifier.bias", kNan);
  expect_all(stop_of(model, args), {"classifier.bias is not finite after training, so the model is not saved"});
}

// The first update makes the weights huge, the second one NaN; checkpoint-1 has the last ones that are finite.
TEST_F(NanGuardTest, IgnoreTrainsOnButWritesNoBadCheckpoint) {
  TrainingArguments args = arguments(NanPolicy::ignore);
  args.learning_rate = 1e30;
  args.max_steps = 4;
  args.save_strategy = Strategy::steps;
  args.save_steps = 1;
  args.save_total_limit = 1;
  ToyModel model;
  ToyTrainer trainer(model, args, toy_dataset(24));
  trainer.train();
  EXPECT_EQ(trainer.state().global_step, 4);
  EXPECT_EQ(checkpoints(), Steps({1}));
  EXPECT_EQ(warnings_with("so no checkpoint is written"), 3u);
  EXPECT_EQ(warnings_with("the model that is saved is of no use"), 1u);
  ToyModel saved;
  saved.load_weights(folder_ / "out/checkpoint-1");
  EXPECT_TRUE(std::ranges::all_of(saved.weights(), [](float x) { return std::isfinite(x); }));
}

// An update from finite gradients to infinite weights.
TEST_F(NanGuardTest, StopWritesNoBadCheckpointAndNamesTheLast) {
  TrainingArguments args = arguments();
  args.save_strategy = Strategy::steps;
  args.save_steps = 1;
  args.max_steps = 1;
  {
    ToyModel model;
    ToyTrainer(model, args, toy_dataset(24)).train();
  }
  const std::filesystem::path last = folder_ / "out/checkpoint-1";
  args.max_steps = 3;
  args.learning_rate = 1e300;
  args.save_total_limit = 1;
  ToyModel model;
  ToyTrainer trainer(model, args, toy_dataset(24));
  expect_all(error_of([&] { trainer.train(last); }),
             {"is not finite after step 2;", "the last checkpoint is " + last.string()});
  EXPECT_EQ(checkpoints(), Steps({1}));
}

TEST_F(NanGuardTest, ABadCheckpointIsNotResumed) {
  ToyModel model;
  fill(model, "layer.1.norm1.bias", kInfinity);
  model.save_pretrained(folder_ / "bad");
  expect_all(error_of([&] { model.load_weights(folder_ / "bad"); }),
             {(folder_ / "bad/model.safetensors").string(), "layer.1.norm1.bias", "NaN or infinite"});
}

// fp16 overflows in every step: 17 halvings take the scale from 65,536 to 0.5.
TEST_F(NanGuardTest, Fp16StopsWhereTheLossScaleNoLongerHelps) {
  const auto overflowing = [](ToyModel& model) { fill(model, "layer.0.output_norm.weight", 1e6f); };
  TrainingArguments args = arguments();
  args.fp16 = true;
  args.max_steps = 60;
  ToyModel model;
  overflowing(model);
  expect_all(stop_of(model, args), {"training stopped at step 17: fp16 overflowed", "fallen to 0.5",
                                    "in the output of layer norm layer.0.output_norm", "--bf16 or fp32"});
  EXPECT_EQ(warnings_with("skipped: fp16 overflowed"), 16u);

  args.nan_policy = NanPolicy::skip;
  overflowing(model);
  expect_all(stop_of(model, args), {"step 50, the last of 50 skipped in a row", "layer.0.output_norm"});

  args.nan_policy = NanPolicy::ignore;
  ToyTrainer trainer(model, args, toy_dataset(24));
  EXPECT_EQ(number(trainer.train(), "train_skipped_steps"), 60);

  args.nan_policy = NanPolicy::stop;
  args.debug = {"underflow_overflow"};
  expect_all(stop_of(model, args), {"training stopped at step 1,", "layer.0.output_norm"});
}

TEST_F(NanGuardTest, ChecksOfEveryStepChangeNoBits) {
  std::vector<std::vector<float>> weights;
  for (const bool checks_ops : {false, true}) {
    TrainingArguments args = arguments();
    args.gradient_accumulation_steps = 2;
    if (checks_ops) args.debug = {"underflow_overflow"};
    ToyModel model(0.1f);
    ToyTrainer(model, args, toy_dataset(24)).train();
    weights.push_back(model.weights());
  }
  EXPECT_EQ(weights[0], weights[1]);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(NanGuardTest, ChecksOfEveryStepSpeakUpWhereTheRunGoesOn) {
  TrainingArguments args = arguments(NanPolicy::ignore);
  args.debug = {"underflow_overflow"};
  args.max_steps = 2;
  ToyModel model;
  fill(model, "layer.1.value.bias", kNan);
  ToyTrainer(model, args, toy_dataset(24)).train();
  EXPECT_EQ(warnings_with("step 1: NaN in the weight layer.1.value.bias"), 1u);
}

TEST_F(NanGuardTest, SkippedStepsAreCountedAcrossARestart) {
  TrainerState state;
  state.global_step = state.max_steps = 5;
  state.skipped_steps = 3;
  state.save(folder_);
  EXPECT_EQ(TrainerState::load(folder_).skipped_steps, 3);
}

}  // namespace
}  // namespace hearth
