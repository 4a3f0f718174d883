// One model trained by several processes, here threads: it becomes what one process with all the data makes of it.
#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <set>

#include "hearth/train/trainer.h"
#include "tests/parallel/toy_team.h"
#include "tests/train/toy.h"

namespace hearth {
namespace {

using parallel::Team;

struct Trained {
  std::vector<float> weights;
  std::vector<double> losses;
  Metrics metrics;
  TrainerState state;
};

struct Split {
  int ranks;
  std::int64_t batch, accumulation;
};
constexpr Split kSplits[] = {{1, 8, 1}, {2, 4, 1}, {4, 2, 1}, {1, 4, 2}, {2, 2, 2}};

class TeamTraining : public TrainerTest {
 protected:
  // Trains one model per rank, from weights that differ; all must end alike. Returns what the first rank has.
  static Trained run(int ranks, const TrainingArguments& args, float dropout,
                     const std::optional<std::filesystem::path>& checkpoint = {}, std::int64_t items = 160) {
    Trained first;
    std::vector<std::vector<float>> weights(static_cast<std::size_t>(ranks));
    comm::run_threads(ranks, [&](comm::ProcessGroup& group) {
      const Team team = parallel::team_of(group, group.rank());
      ToyModel model(dropout, static_cast<std::uint64_t>(1 + team.rank()));
      if (args.fp16) enlarge_classifier(model);
      ToyTrainer trainer(model, args, toy_dataset(items), {}, team);
      const Metrics metrics = trainer.train(checkpoint);
      weights[static_cast<std::size_t>(team.rank())] = model.weights();
      if (!team.is_first()) return;
      first.metrics = metrics;
      first.state = trainer.state();
    });
    for (const auto& each : weights) EXPECT_EQ(each, weights[0]);
    first.weights = weights[0];
    for (const io::Json& row : first.state.log_history)
      if (row.contains("loss")) first.losses.push_back(number(row, "loss"));
    return first;
  }

  TrainingArguments split_arguments(const Split& split) const {
    TrainingArguments args = arguments();
    args.num_train_epochs = 1;
    args.per_device_train_batch_size = split.batch;
    args.gradient_accumulation_steps = split.accumulation;
    return args;
  }

  static double distance(const std::vector<float>& a, const std::vector<float>& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(double{a[i]} - b[i]));
    return largest;
  }

  static void expect_losses_near(const Trained& a, const Trained& b, double tolerance) {
    ASSERT_EQ(a.losses.size(), 20u);
    ASSERT_EQ(b.losses.size(), 20u);
    for (std::size_t i = 0; i < a.losses.size(); ++i) EXPECT_NEAR(a.losses[i], b.losses[i], tolerance) << "step " << i;
    EXPECT_NEAR(number(a.metrics, "train_loss"), number(b.metrics, "train_loss"), tolerance);
  }
};

TEST_F(TeamTraining, SplitsEndWithTheSameWeights) {
  for (const float dropout : {0.0f, 0.1f}) {
    std::optional<Trained> whole;
    for (const Split& split : kSplits) {
      TrainingArguments args = split_arguments(split);
      args.optim = "sgd";
      args.learning_rate = 0.1;
      const Trained parts = run(split.ranks, args, dropout);
      if (!whole) whole = parts;
      EXPECT_EQ(parts.state.global_step, 20);
      EXPECT_EQ(parts.state.epoch, 1.0);
      EXPECT_LT(distance(parts.weights, whole->weights), 1e-5) << split.ranks << " ranks, dropout " << dropout;
      expect_losses_near(parts, *whole, 1.5e-4);  // they are logged with four digits
      EXPECT_EQ(parts.state.num_input_tokens_seen, whole->state.num_input_tokens_seen);
      EXPECT_EQ(parts.state.total_flos, whole->state.total_flos);
    }
    EXPECT_LT(whole->losses.back(), 0.9 * whole->losses.front());
  }
}

TEST_F(TeamTraining, SplitsHaveTheSameLossesWithAdamWAndBf16) {
  for (const bool bf16 : {false, true}) {
    std::optional<Trained> whole;
    for (const Split& split : kSplits) {
      TrainingArguments args = split_arguments(split);
      args.bf16 = bf16;
      args.learning_rate = 1e-3;
      const Trained parts = run(split.ranks, args, 0.1f);
      if (!whole) whole = parts;
      expect_losses_near(parts, *whole, bf16 ? 2e-2 : 1.5e-4);
    }
  }
}

TEST_F(TeamTraining, ShardedAndBf16OnTheWire) {
  TrainingArguments args = split_arguments({2, 4, 1});
  args.learning_rate = 1e-3;
  args.weight_decay = 0.1;
  const Trained plain = run(2, args, 0.1f);
  args.sharded_optimizer = true;
  for (const char* optim : {"adamw_torch", "sgd"}) {
    args.optim = optim;
    args.sharded_optimizer = false;
    const Trained whole = run(2, args, 0.1f);
    args.sharded_optimizer = true;
    const Trained shards = run(2, args, 0.1f);
    EXPECT_LT(distance(whole.weights, shards.weights), 1e-5) << optim;
  }
  args.optim = "adamw_torch";
  args.ddp_wire_dtype = DType::bf16;
  for (const bool sharded : {false, true}) {
    args.sharded_optimizer = sharded;
    const Trained rounded = run(2, args, 0.1f);
    EXPECT_NE(rounded.weights, plain.weights);
    expect_losses_near(rounded, plain, 1e-2);
  }
}

// The same bits again: as one run, and interrupted at a checkpoint.
TEST_F(TeamTraining, ResumesBitForBit) {
  for (const auto& [optim, sharded] :
       {std::pair("adamw_torch", false), {"adamw_torch", true}, {"adamw_16bit", false}, {"adamw_16bit", true}}) {
    TrainingArguments args = split_arguments({2, 2, 2});
    args.output_dir = (folder_ / (optim + std::string(sharded ? "_sharded" : "_whole"))).string();
    args.optim = optim;
    args.sharded_optimizer = sharded;
    args.num_train_epochs = 2;
    args.save_strategy = Strategy::steps;
    args.save_steps = 8;
    args.logging_steps = 3;
    const Trained whole = run(2, args, 0.1f, {}, 93);
    EXPECT_EQ(whole.state.global_step, 24);
    EXPECT_EQ(whole.state.world_size, 2);
    const auto saved = std::filesystem::path(args.output_dir) / "checkpoint-8";
    args.save_strategy = Strategy::no;
    const Trained resumed = run(2, args, 0.1f, saved, 93);
    EXPECT_EQ(resumed.weights, whole.weights) << optim;
    EXPECT_EQ(without_times(resumed.state.log_history), without_times(whole.state.log_history));
    EXPECT_TRUE(warnings_.empty());
  }
}

// As on hosts that share no disk.
TEST_F(TeamTraining, OnlyTheFirstRankNeedsToSeeTheCheckpoint) {
  const auto is_frozen = [](std::string_view name) { return name.starts_with("layer.0."); };
  for (const std::string mode : {"whole", "sharded", "fp16", "frozen"}) {
    TrainingArguments args = split_arguments({2, 4, 1});
    args.output_dir = (folder_ / mode).string();
    args.sharded_optimizer = mode == "sharded";
    args.fp16 = mode == "fp16";
    args.save_strategy = Strategy::steps;
    args.save_steps = 8;
    std::vector<float> weights[2], expected;
    const auto train = [&](std::uint64_t seed, const std::filesystem::path& of_first) {
      comm::run_threads(2, [&](comm::ProcessGroup& group) {
        ToyModel model(0.1f, seed, mode == "frozen" ? is_frozen : ToyModel::Chosen());
        ToyTrainer trainer(model, args, toy_dataset(160), {}, parallel::team_of(group, group.rank()));
        if (of_first.empty()) {
          trainer.train();
        } else {
          trainer.train(group.rank() == 0 ? of_first : folder_ / "on another host");
        }
        weights[group.rank()] = model.weights();
      });
      EXPECT_EQ(weights[0], weights[1]) << mode;
    };
    train(1, "");
    expected = weights[0];
    const auto moments = [&] {
      return io::read_file(std::filesystem::path(args.output_dir) / "checkpoint-20" / "optimizer.safetensors");
    };
    const std::string expected_moments = moments();
    const auto saved = std::filesystem::path(args.output_dir) / "checkpoint-8";
    args.output_dir = (folder_ / ("again_" + mode)).string();
    train(99, saved);
    EXPECT_EQ(weights[0], expected) << mode;
    EXPECT_TRUE(moments() == expected_moments) << mode;
  }
}

TEST_F(TeamTraining, ShardsOfTwoAreResumedByOne) {
  TrainingArguments args = split_arguments({2, 4, 1});
  args.sharded_optimizer = true;
  args.save_strategy = Strategy::steps;
  args.save_steps = 10;
  const Trained two = run(2, args, 0.1f);
  EXPECT_EQ(checkpoints(), std::vector<std::int64_t>({10, 20}));
  TrainingArguments alone = split_arguments({1, 8, 1});
  const auto saved = folder_ / "out" / "checkpoint-10";
  const Trained one = run(1, alone, 0.1f, saved);
  EXPECT_LT(distance(one.weights, two.weights), 2e-3);  // AdamW makes steps of mere rounding
  expect_losses_near(one, two, 1.5e-4);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_TRUE(contains(warnings_[0], "train_batch_size 4 -> 8, world_size 2 -> 1"));
}

TEST_F(TeamTraining, AnOverflowIsSkippedByAll) {
  TrainingArguments args = split_arguments({2, 4, 1});
  args.fp16 = true;
  const Trained two = run(2, args, 0.0f);
  EXPECT_GT(number(two.metrics, "train_skipped_steps"), 0);
  EXPECT_EQ(warnings_.size(), static_cast<std::size_t>(number(two.metrics, "train_skipped_steps")));
}

// Batches are dealt out in turn; where they do not come out even the first items are taken again.
TEST_F(TeamTraining, DataIsDealtOutAsAccelerateDoes) {
  TrainingArguments args = split_arguments({2, 4, 1});
  args.train_sampling_strategy = Sampling::sequential;
  std::vector<std::int64_t> items[2];
  comm::run_threads(2, [&](comm::ProcessGroup& group) {
    ToyModel model;
    ToyTrainer trainer(model, args, toy_dataset(19, &items[group.rank()]), {}, parallel::team_of(group));
    trainer.train();
    EXPECT_EQ(trainer.state().global_step, 3);
  });
  EXPECT_EQ(items[0], (std::vector<std::int64_t>{0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 0}));
  EXPECT_EQ(items[1], (std::vector<std::int64_t>{4, 5, 6, 7, 12, 13, 14, 15, 1, 2, 3, 4}));
}

TEST_F(TeamTraining, EveryItemIsPredictedOnce) {
  for (const std::int64_t size : {1, 4, 7, 13, 24})
    for (const int ranks : {1, 2, 3, 4}) {
      std::multiset<std::int64_t> seen;
      std::mutex mutex;
      comm::run_threads(ranks, [&](comm::ProcessGroup& group) {
        TrainingArguments args = arguments();
        args.per_device_eval_batch_size = 3;
        ToyModel model;
        ToyTrainer trainer(model, args, {}, {}, parallel::team_of(group));
        trainer.predict_batches(*toy_dataset(size),
                                [&](std::span<const std::int64_t> items, const Batch& batch, const auto&) {
                                  EXPECT_EQ(batch.sequences(), std::ssize(items));
                                  const std::lock_guard lock(mutex);
                                  seen.insert(items.begin(), items.end());
                                });
      });
      ASSERT_EQ(seen.size(), static_cast<std::size_t>(size)) << ranks << " ranks";
      for (std::int64_t item = 0; item < size; ++item) EXPECT_EQ(seen.count(item), 1u);
    }
}

TEST_F(TeamTraining, TheBarOfAnEvaluationEndsAtOneHundredPercent) {
  testing::internal::CaptureStderr();
  comm::run_threads(2, [&](comm::ProcessGroup& group) {
    TrainingArguments args = arguments();
    args.disable_tqdm = false;
    args.per_device_eval_batch_size = 4;
    ToyModel model;
    ToyTrainer trainer(model, args, {}, {}, parallel::team_of(group));
    trainer.predict_batches(*toy_dataset(23), [](const auto&...) {});
  });
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(contains(text, "evaluating: 100% 23/23 [")) << text;
}

// Each rank measures something else; what the first one has decides.
TEST_F(TeamTraining, AllStopEarlyTogetherAndEndWithTheBestModel) {
  TrainingArguments args = split_arguments({2, 4, 1});
  args.eval_strategy = args.save_strategy = Strategy::steps;
  args.eval_steps = args.save_steps = 2;
  args.metric_for_best_model = "f1";
  args.early_stopping_patience = 2;
  args.load_best_model_at_end = true;
  std::vector<float> weights[2];
  comm::run_threads(2, [&](comm::ProcessGroup& group) {
    ToyModel model;
    TrainerOptions trainer_options;
    double metric = 0;
    trainer_options.evaluate = [&](const Trainer&) {
      metric += group.rank() == 0 ? -1 : 1;
      return Metrics{{"eval_f1", metric}};
    };
    ToyTrainer trainer(model, args, toy_dataset(160), trainer_options, parallel::team_of(group));
    trainer.train();
    EXPECT_EQ(trainer.state().global_step, 6);
    EXPECT_EQ(trainer.state().best_metric, -1);
    weights[group.rank()] = model.weights();
  });
  EXPECT_EQ(weights[0], weights[1]);
  ToyModel best;
  best.load_weights(folder_ / "out" / "checkpoint-2");
  EXPECT_EQ(weights[0], best.weights());
}

TEST_F(TeamTraining, RanksThatDisagreeAreToldAtTheStart) {
  const auto error_with = [&](const std::function<void(TrainingArguments&, ToyDataset&)>& change) {
    std::vector<std::string> errors(2);
    comm::run_threads(2, [&](comm::ProcessGroup& group) {
      TrainingArguments args = arguments();
      const auto data = toy_dataset(24);
      if (group.rank() == 1) change(args, *data);
      ToyModel model;
      errors[static_cast<std::size_t>(group.rank())] =
          error_of([&] { ToyTrainer(model, args, data, {}, parallel::team_of(group)); });
    });
    EXPECT_EQ(errors[0], errors[1]);
    return errors[0];
  };
  EXPECT_TRUE(contains(error_with([](TrainingArguments& args, ToyDataset&) { args.per_device_train_batch_size = 2; }),
                       "--per_device_train_batch_size is 4 on rank 0, 2 on rank 1"));
  EXPECT_TRUE(contains(error_with([](TrainingArguments&, ToyDataset& data) { data.lengths[3] += 1; }),
                       "the training data is 24 items"));
  EXPECT_EQ(error_with([](TrainingArguments& args, ToyDataset&) {
              args.output_dir += "/elsewhere";
              args.num_threads = 1;
            }),
            "");
}

}  // namespace
}  // namespace hearth
