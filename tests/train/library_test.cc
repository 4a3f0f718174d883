// The Trainer as a program of one's own uses it: metrics of its own, and mistakes that end in one sentence.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <thread>

#include "hearth/train/evaluation.h"
#include "tests/parallel/toy_team.h"
#include "tests/train/toy.h"

namespace hearth {
namespace {

Metrics accuracy(const EvalPrediction& prediction) {
  double right = 0;
  for (std::int64_t item = 0; item < prediction.size(); ++item) {
    const auto logits = prediction.logits()[item];
    right +=
        std::ranges::max_element(logits) - logits.begin() == static_cast<std::ptrdiff_t>(prediction.labels()[item][0]);
  }
  return {{"accuracy", right / static_cast<double>(prediction.size())}};
}

// What collate does is up to the test.
struct OddDataset final : Dataset {
  explicit OddDataset(std::function<BatchPtr(const ToyDataset&, std::span<const std::int64_t>)> make)
      : make_batch(std::move(make)) {}
  std::int64_t size() const override { return 8; }
  std::int64_t length(std::int64_t item) const override { return toy->length(item); }
  BatchPtr collate(std::span<const std::int64_t> items, std::uint32_t) const override {
    return make_batch(*toy, items);
  }

  std::shared_ptr<ToyDataset> toy = toy_dataset(8);
  std::function<BatchPtr(const ToyDataset&, std::span<const std::int64_t>)> make_batch;
};

using Library = TrainerTest;

TEST_F(Library, ComputesMetricsOfItsOwnAlikeOnOneRankAndTwo) {
  TrainingArguments args = arguments();
  args.per_device_eval_batch_size = 3;
  const TrainerOptions options{.eval_dataset = toy_dataset(10), .compute_metrics = accuracy};
  ToyModel model;
  const Metrics alone = ToyTrainer(model, args, {}, options).evaluate();
  EXPECT_TRUE(alone.contains("eval_loss") && alone.contains("eval_runtime"));
  std::array<Metrics, 2> ranks;
  comm::run_threads(2, [&](comm::ProcessGroup& group) {
    ToyModel copy;
    ranks[static_cast<std::size_t>(group.rank())] =
        ToyTrainer(copy, args, {}, options, parallel::team_of(group)).evaluate();
  });
  EXPECT_EQ(ranks[0], ranks[1]);
  EXPECT_EQ(ranks[0].at("eval_accuracy"), alone.at("eval_accuracy"));
  EXPECT_NEAR(ranks[0].at("eval_loss"), alone.at("eval_loss"), 1e-6);
}

// Rank 1 has no batch, and so learns no name from one.
TEST_F(Library, ComputesMetricsOfFewerBatchesThanRanks) {
  comm::run_threads(2, [&](comm::ProcessGroup& group) {
    ToyModel model;
    const Metrics metrics =
        ToyTrainer(model, arguments(), {}, {.eval_dataset = toy_dataset(3), .compute_metrics = accuracy},
                   parallel::team_of(group))
            .evaluate();
    EXPECT_TRUE(metrics.contains("eval_accuracy"));
  });
}

TEST_F(Library, ChoosesTheBestModelByItsOwnMetric) {
  TrainingArguments args = arguments();
  args.eval_strategy = Strategy::epoch;
  args.metric_for_best_model = "accuracy";
  ToyModel model;
  ToyTrainer trainer(model, args, toy_dataset(24), {.eval_dataset = toy_dataset(24), .compute_metrics = accuracy});
  trainer.train();
  EXPECT_TRUE(trainer.progress().best_metric.has_value());
  EXPECT_EQ(steps_with(trainer.state().log_history, "eval_accuracy"), (std::vector<std::int64_t>{6, 12}));
}

TEST_F(Library, PredictsLogitsAndLabelsOfEveryItem) {
  ToyModel model;
  ToyTrainer trainer(model, arguments(), {}, {.compute_metrics = accuracy});
  const PredictionOutput output = trainer.predict(*toy_dataset(10));
  EXPECT_TRUE(output.metrics.contains("test_accuracy"));
  ASSERT_EQ(output.values.size(), 10);
  for (std::int64_t item = 0; item < 10; ++item) {
    EXPECT_EQ(std::ssize(output.values.logits()[item]), kToyClasses);
    EXPECT_EQ(output.values.labels()[item][0], ToyDataset::token(item, 0) % kToyClasses);
  }
  EXPECT_TRUE(contains(error_of([&] { output.values.logits("start_logits"); }), "the names are: logits"));
}

TEST_F(Library, SaysWhatIsMissing) {
  const TrainingArguments args = arguments();
  ToyModel model;
  EXPECT_TRUE(contains(error_of([&] { Trainer(nullptr, args); }), "the model is null"));
  EXPECT_TRUE(contains(error_of([&] { ToyTrainer(model, args, {}).train(); }), "give TrainerOptions a train_dataset"));
  EXPECT_TRUE(
      contains(error_of([&] { ToyTrainer(model, args, {}).evaluate(); }), "give TrainerOptions an eval_dataset"));
  EXPECT_TRUE(
      contains(error_of([&] { ToyTrainer(model, args, {}).evaluate(toy_dataset(0)); }), "the dataset is empty"));
}

TEST_F(Library, SaysWhatIsWrongWithABatch) {
  const auto error = [&](auto make, bool finds_batch_size = false) {
    TrainingArguments args = arguments();
    args.auto_find_batch_size = finds_batch_size;
    ToyModel model;
    return error_of([&] { ToyTrainer(model, args, std::make_shared<OddDataset>(make)).train(); });
  };
  const auto unlabelled = [](const ToyDataset& toy, auto items) {
    Batch batch = *toy.collate(items, 0);
    batch.labels.clear();
    return shared_batch(std::move(batch));
  };
  for (const bool finds : {false, true}) EXPECT_TRUE(contains(error(unlabelled, finds), "has no labels"));
  EXPECT_TRUE(contains(error([](auto&, auto) { return BatchPtr(); }), "it returned null"));
  const std::string thrown = error([](auto&, auto) -> BatchPtr { throw std::out_of_range("no such row"); });
  EXPECT_TRUE(contains(thrown, "[Dataset::collate] items ") && contains(thrown, "no such row")) << thrown;
  EXPECT_EQ(error([](auto&, auto) -> BatchPtr { throw Error("the file is gone"); }), "the file is gone");
}

// The second one begins while the first evaluates.
TEST_F(Library, TrainsOneModelAtATime) {
  TrainingArguments args = arguments();
  args.eval_strategy = Strategy::epoch;
  std::string second;
  TrainerOptions options;
  options.evaluate = [&](Trainer&) {
    std::thread([&] {
      ToyModel other;
      second = error_of([&] { ToyTrainer(other, arguments(), toy_dataset(24)).train(); });
    }).join();
    return Metrics{{"eval_x", 0}};
  };
  ToyModel model;
  ToyTrainer(model, args, toy_dataset(24), options).train();
  EXPECT_TRUE(contains(second, "another Trainer is training in this process")) << second;
  EXPECT_EQ(error_of([&] { ToyTrainer(model, arguments(), toy_dataset(24)).train(); }), "") << "the first has ended";
}

TEST_F(Library, ServesOneModelToSeveralThreads) {
  const BatchPtr batch = toy_dataset(6)->collate(std::array<std::int64_t, 6>{0, 1, 2, 3, 4, 5}, 0);
  for (const DType type : {DType::f32, DType::bf16}) {
    ToyModel model;
    const auto logits = [&](nn::Model& of) {
      ops::Context ctx;
      ctx.compute = type;
      const Tensor values = of.forward(ctx, batch).logits_named("logits");
      return std::vector<float>(values.data<float>(), values.data<float>() + values.size());
    };
    ToyModel same;
    const std::vector<float> expected = logits(same);
    std::array<std::vector<float>, 8> results;  // the first forward passes of all build the 16-bit copies
    std::vector<std::thread> threads;
    for (auto& result : results) threads.emplace_back([&] { result = logits(model); });
    for (std::thread& thread : threads) thread.join();
    for (const auto& result : results) EXPECT_EQ(result, expected);
  }
}

}  // namespace
}  // namespace hearth
