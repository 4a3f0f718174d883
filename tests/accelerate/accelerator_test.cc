#include "hearth/accelerate/accelerator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>

#include "hearth/accelerate/optimize.h"
#include "hearth/data/token_dataset.h"
#include "hearth/nn/layers.h"
#include "hearth/ops/rows.h"
#include "tests/parallel/toy_team.h"
#include "tests/support.h"

namespace hearth {
namespace {

class Classifier final : public nn::Model {
 public:
  explicit Classifier(float dropout = 0)
      : words_(root() / "words", 8, 16), dropout_(root(), dropout), output_(root() / "output", 16, 2) {
    initialise(3);
  }
  nn::ModelOutput forward(ops::Context& ctx, const BatchPtr& batch) override {
    ctx.begin(batch);
    const Var words = dropout_(ctx, words_(ctx, batch->input_ids));
    return nn::classified(ctx, *batch, output_.logits(ctx, ops::mean_tokens(ctx, words)));
  }

 private:
  nn::Embedding words_;
  nn::Dropout dropout_;
  nn::Linear output_;
};

DatasetPtr texts(int count) {
  auto dataset = std::make_shared<TokenDataset>();
  for (std::int32_t i = 0; i < count; ++i) dataset->add(std::vector{i % 8, (3 * i) % 8}, {}, i % 2);
  return dataset;
}

std::vector<float> weights_of(const nn::Model& model) {
  const Tensor& master = model.parameters().master();
  return {master.data<float>(), master.data<float>() + master.size()};
}

struct Trained {
  std::vector<float> weights;
  double lr = 0;
};

// Two epochs over 24 texts in batches of 4 per rank and micro-batch.
Trained train(const AcceleratorOptions& options, const parallel::Team& team, std::int64_t batch_size) {
  Accelerator accelerator(options, team);
  const auto classifier = std::make_shared<Classifier>();
  const auto adamw = optim::adamw(classifier->parameters(), {.lr = 0.05});
  const DataLoader data(texts(24), {.batch_size = batch_size, .shuffle = true});
  auto [model, optimizer, loader, schedule] = accelerator.prepare(
      classifier, adamw, data,
      optim::linear_schedule_with_warmup(*adamw, 0, 2 * data.size() / options.gradient_accumulation_steps));
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const BatchPtr& batch : loader) {
      accelerator.backward(model(batch).loss);
      optimizer.clip_grad_norm(0.5);
      optimizer.step();
      schedule.step();
      optimizer.zero_grad();
    }
  return {weights_of(*classifier), optimizer.lr()};
}

void expect_near(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 2e-4) << i;
}

TEST(Accelerator, TwoRanksTrainAsOneWithTwiceTheBatch) {
  const Trained alone = train({}, parallel::Team(), 8);
  std::mutex mutex;
  parallel::run_team(2, [&](const parallel::Team& team) {
    const Trained run = train({}, team, 4);
    const std::lock_guard lock(mutex);
    expect_near(run.weights, alone.weights);
  });
}

TEST(Accelerator, ScheduleStepsOncePerRank) {
  // 6 batches per epoch were counted; two ranks make 3 updates of 2 steps each per epoch.
  parallel::run_team(2, [](const parallel::Team& team) { EXPECT_DOUBLE_EQ(train({}, team, 4).lr, 0); });
}

TEST(Accelerator, AccumulatesGradients) {
  const Trained whole = train({}, parallel::Team(), 8);
  const Trained accumulated = train({.gradient_accumulation_steps = 2}, parallel::Team(), 4);
  expect_near(accumulated.weights, whole.weights);
}

TEST(Accelerator, MixedPrecisionTrainsNearFp32) {
  const Trained fp32 = train({.mixed_precision = "no"}, parallel::Team(), 8);
  for (const char* precision : {"bf16", "fp16"}) {
    const Trained run = train({.mixed_precision = precision}, parallel::Team(), 8);
    EXPECT_NE(run.weights, fp32.weights);
    for (std::size_t i = 0; i < run.weights.size(); ++i)
      ASSERT_NEAR(run.weights[i], fp32.weights[i], 0.05) << precision;
  }
}

TEST(Accelerator, AllRanksStartFromTheWeightsOfRank0) {
  parallel::run_team(2, [](const parallel::Team& team) {
    Accelerator accelerator({}, team);
    const auto model = std::make_shared<Classifier>();
    const std::vector<float> before = weights_of(*model);
    if (team.rank() == 1) model->parameters().master().fill_zero();
    accelerator.prepare(model);
    EXPECT_EQ(weights_of(*model), before);
  });
}

TEST(Accelerator, GatherForMetricsHasEveryItemOnce) {
  parallel::run_team(3, [](const parallel::Team& team) {
    Accelerator accelerator({}, team);
    DataLoader loader = accelerator.prepare(DataLoader(texts(7), {.batch_size = 2}));
    std::vector<std::int64_t> labels;
    for (const BatchPtr& batch : loader)
      for (const std::int64_t label : accelerator.gather_for_metrics(batch->labels.at("labels")))
        labels.push_back(label);
    EXPECT_EQ(labels, (std::vector<std::int64_t>{0, 1, 0, 1, 0, 1, 0}));
    const std::vector<float> mine(static_cast<std::size_t>(team.rank()), static_cast<float>(team.rank()));
    EXPECT_EQ(accelerator.gather(mine), (std::vector<float>{1, 2, 2}));
  });
}

TEST(Accelerator, GatherForMetricsTakesSeveralValuesPerItem) {
  parallel::run_team(2, [](const parallel::Team& team) {
    Accelerator accelerator({}, team);
    DataLoader loader = accelerator.prepare(DataLoader(texts(3), {.batch_size = 2}));
    for (const BatchPtr& batch : loader) {
      const std::vector<float> pairs(2 * static_cast<std::size_t>(batch->sequences()));
      EXPECT_EQ(accelerator.gather_for_metrics(pairs).size(), 6u) << "the fourth item is a repetition";
      EXPECT_TRUE(
          contains(error_of([&] { accelerator.gather_for_metrics(std::vector<float>(1)); }), "2 values for 4 items"));
    }
  });
}

TEST(Accelerator, ASecondBackwardAfterTheRanksHaveAveragedIsAnError) {
  parallel::run_team(2, [](const parallel::Team& team) {
    Accelerator accelerator({}, team);
    const auto classifier = std::make_shared<Classifier>();
    auto [model, optimizer] = accelerator.prepare(classifier, optim::adamw(classifier->parameters()));
    const BatchPtr batch = texts(4)->collate(std::vector<std::int64_t>{0, 1, 2, 3}, 0);
    accelerator.backward(model(batch).loss);
    EXPECT_TRUE(contains(error_of([&, &model = model] { accelerator.backward(model(batch).loss); }),
                         "averaged over the ranks already"));
    optimizer.step();
    optimizer.zero_grad();
    accelerator.backward(model(batch).loss);
  });
}

TEST(Accelerator, APreparedModelMayOutliveIt) {
  std::optional<PreparedModel> model;
  {
    Accelerator accelerator({}, parallel::Team());
    model = accelerator.prepare(std::make_shared<Classifier>());
  }
  EXPECT_TRUE((*model)(texts(1)->collate(std::vector<std::int64_t>{0}, 0)).loss.defined());
}

TEST(Accelerator, EvaluationRecordsNothingAndHasNoDropout) {
  Accelerator accelerator({}, parallel::Team());
  PreparedModel model = accelerator.prepare(std::make_shared<Classifier>(0.5f));
  const BatchPtr batch = texts(4)->collate(std::vector<std::int64_t>{0, 1, 2, 3}, 0);
  EXPECT_NE(model(batch).loss.value().item(), model(batch).loss.value().item()) << "each pass has dropout of its own";
  model.eval();
  const Var loss = model(batch).loss;
  EXPECT_EQ(loss.value().item(), model(batch).loss.value().item());
  EXPECT_TRUE(contains(error_of([&] { accelerator.backward(loss); }), "backward"));
}

TEST(Accelerator, MistakesEndInASentence) {
  Accelerator accelerator({}, parallel::Team());
  const auto prepared = std::make_shared<Classifier>(), other = std::make_shared<Classifier>();
  EXPECT_TRUE(contains(error_of([&] { accelerator.prepare(std::shared_ptr<nn::Model>()); }), "there is no model"));
  PreparedModel model = accelerator.prepare(prepared);
  EXPECT_TRUE(contains(error_of([&] { accelerator.prepare(optim::adamw(other->parameters())); }),
                       "a model that is not prepared"));
  const BatchPtr batch = texts(2)->collate(std::vector<std::int64_t>{0, 1}, 0);
  const Var loss = model(batch).loss;
  accelerator.backward(loss);
  EXPECT_TRUE(contains(error_of([&] { accelerator.backward(loss); }), "backward"));
  Tape tape;
  ops::Context ctx;
  ctx.tape = &tape;
  EXPECT_TRUE(contains(error_of([&] { accelerator.backward(other->forward(ctx, batch).loss); }),
                       "no model that this Accelerator prepared"));
  EXPECT_TRUE(contains(error_of([] { Accelerator({.mixed_precision = "fp8"}, parallel::Team()); }),
                       "mixed_precision is 'fp8'"));
  EXPECT_TRUE(contains(error_of([] { Accelerator({.gradient_accumulation_steps = 0}, parallel::Team()); }),
                       "at least 1, got 0"));
}

TEST(Optimize, PacksTheWeightsOfMatmulsAhead) {
  Classifier model, other;
  const auto adamw = optim::adamw(model.parameters());
  optimize(model, *adamw, DType::bf16);
  for (const auto& parameter : model.parameters().parameters())
    EXPECT_EQ(!parameter->copies.empty(), parameter->parts.front().name == "output.weight")
        << parameter->parts.front().name;
  EXPECT_TRUE(contains(error_of([&] { optimize(other, *adamw, DType::bf16); }), "another model"));
}

}  // namespace
}  // namespace hearth
