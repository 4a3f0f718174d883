// A run that is asked to stop saves a checkpoint and ends; the run that resumes ends as one that was never stopped.
#include <gtest/gtest.h>

#include <array>

#include "hearth/base/error.h"
#include "hearth/train/trainer.h"
#include "tests/parallel/toy_team.h"
#include "tests/train/toy.h"

namespace hearth {
namespace {

using Checkpoint = std::optional<std::filesystem::path>;

// The step in which a run is asked to stop, or after which it is while it evaluates or saves. 0: never.
struct Request {
  std::int64_t in_step = 0, in_evaluation = 0, in_save = 0;
};

struct End {
  std::string logs;
  std::vector<float> weights;
  std::int64_t step = 0;
  bool interrupted = false;
  std::vector<std::int64_t> saves;  // the steps of all checkpoints written
  std::int64_t evaluated = 0;       // batches of all evaluations
};

// A run of twelve steps. Its evaluations run the model over 40 batches, and their metric depends on the weights.
class StoppableRun {
 public:
  StoppableRun(const TrainingArguments& args, const Request& request, const Checkpoint& checkpoint,
               const parallel::Team& team = {})
      : model_(0.1f, checkpoint ? 99 : 1),
        trainer_(model_, args, toy_dataset(24), trainer_options(request, team), team) {
    trainer_.train(checkpoint);
    end_.logs = without_times(trainer_.state().log_history);
    end_.weights = model_.weights();
    end_.step = trainer_.state().global_step;
    end_.interrupted = trainer_.was_interrupted();
  }
  const End& end() const { return end_; }

 private:
  TrainerOptions trainer_options(const Request& request, const parallel::Team& team) {
    TrainerOptions trainer_options;
    trainer_options.evaluate = [this, request, batches = 40 * team.size()](Trainer& trainer) {
      evaluating_ = true;
      const auto count = [&](std::span<const std::int64_t>, const Batch&, const nn::ModelOutput&) {
        ++end_.evaluated;
        asked_ = asked_ || step() == request.in_evaluation;
      };
      trainer.predict_batches(*toy_dataset(batches), count);
      evaluating_ = false;
      return Metrics{{"eval_f1", double{model_.weights().back()}}};
    };
    trainer_options.save_beside = [this, request](const std::filesystem::path&) {
      end_.saves.push_back(step());
      asked_ = asked_ || step() == request.in_save;
    };
    trainer_options.stop_requested = [this, request] {
      asked_ = asked_ || (!evaluating_ && step() + 1 == request.in_step);
      return asked_;
    };
    return trainer_options;
  }
  std::int64_t step() const { return trainer_.state().global_step; }

  End end_;
  bool asked_ = false, evaluating_ = false;
  ToyModel model_;
  ToyTrainer trainer_;
};

End run(const TrainingArguments& args, const Request& request = {}, const Checkpoint& checkpoint = {}) {
  return StoppableRun(args, request, checkpoint).end();
}

class Interruption : public TrainerTest {
 protected:
  TrainingArguments evaluating_arguments() const {
    TrainingArguments args = arguments();
    args.per_device_eval_batch_size = 1;
    args.eval_strategy = Strategy::steps;
    args.eval_steps = 2;
    args.metric_for_best_model = "f1";
    return args;
  }
  Checkpoint last() const { return io::last_checkpoint(folder_ / "out"); }
  void clear() const { std::filesystem::remove_all(folder_ / "out"); }

  // Resumes and compares with a run that was not stopped.
  void expect_same_end(const TrainingArguments& args) {
    const End rest = run(args, {}, last());
    clear();
    const End whole = run(args);
    EXPECT_EQ(rest.logs, whole.logs);
    EXPECT_EQ(rest.weights, whole.weights);
    EXPECT_FALSE(rest.interrupted || whole.interrupted);
  }
};

TEST_F(Interruption, SavesTheStepAlsoWithoutASaveStrategy) {
  const TrainingArguments args = arguments();
  for (const std::int64_t step : {1, 5, 12}) {
    clear();
    const End end = run(args, {.in_step = step});
    EXPECT_TRUE(end.interrupted);
    EXPECT_EQ(end.step, step);
    EXPECT_EQ(checkpoints(), std::vector<std::int64_t>{step});
    if (step < 12) expect_same_end(args);
  }
}

TEST_F(Interruption, SavesAStepOnce) {
  TrainingArguments args = arguments();
  args.save_strategy = Strategy::steps;
  args.save_steps = 4;
  EXPECT_EQ(run(args, {.in_step = 8}).saves, std::vector<std::int64_t>({4, 8}));
  clear();
  const End end = run(args, {.in_save = 4});
  EXPECT_TRUE(end.interrupted);
  EXPECT_EQ(end.saves, std::vector<std::int64_t>{4});
  expect_same_end(args);
}

TEST_F(Interruption, SavesEverythingAlsoWhereOtherCheckpointsAreOnlyTheModel) {
  TrainingArguments args = arguments();
  args.save_strategy = Strategy::steps;
  args.save_steps = 4;
  args.save_only_model = true;
  EXPECT_EQ(run(args, {.in_save = 4}).saves, std::vector<std::int64_t>({4, 4}));
  expect_same_end(args);
}

TEST_F(Interruption, CountsForTheLimitOfCheckpoints) {
  TrainingArguments args = arguments();
  args.save_strategy = Strategy::steps;
  args.save_steps = 3;
  args.save_total_limit = 2;
  run(args, {.in_step = 8});
  EXPECT_EQ(checkpoints(), std::vector<std::int64_t>({6, 8}));
}

// The evaluation decides the learning rate and the best model, so it must be made up for.
TEST_F(Interruption, LeavesTheEvaluationToTheRunThatResumes) {
  TrainingArguments args = evaluating_arguments();
  args.lr_scheduler_type = "reduce_lr_on_plateau";
  args.lr_scheduler_kwargs = R"({"factor": 0.5, "patience": 0})";
  args.greater_is_better = false;
  args.load_best_model_at_end = true;
  args.save_strategy = Strategy::steps;
  args.save_steps = 2;
  for (const Request& request : {Request{.in_step = 6}, Request{.in_evaluation = 6}}) {
    clear();
    const End end = run(args, request);
    EXPECT_TRUE(end.interrupted);
    EXPECT_EQ(end.step, 6);
    EXPECT_EQ(end.evaluated, request.in_step == 6 ? 80 : 81);
    expect_same_end(args);
  }
}

TEST_F(Interruption, AtTheLastStepLeavesTheEvaluationToo) {
  const TrainingArguments args = evaluating_arguments();
  run(args, {.in_evaluation = 12});
  const End rest = run(args, {}, last());
  EXPECT_FALSE(rest.interrupted);
  EXPECT_EQ(rest.evaluated, 40);
}

TEST_F(Interruption, BeforeTheFirstStepIsNotAsked) {
  TrainingArguments args = evaluating_arguments();
  args.eval_on_start = true;
  ToyModel model;
  TrainerOptions trainer_options;
  trainer_options.evaluate = [](Trainer& trainer) -> Metrics {
    trainer.predict_batches(*toy_dataset(3), [](auto, const Batch&, const nn::ModelOutput&) {});
    throw Error("enough");
  };
  trainer_options.stop_requested = [] {
    ADD_FAILURE() << "asked";
    return false;
  };
  EXPECT_EQ(error_of([&] { ToyTrainer(model, args, toy_dataset(24), trainer_options).train(); }), "enough");
}

// Rank 1 is asked, or rank 0, which saves.
TEST_F(Interruption, OfOneRankStopsAllAtTheSameStep) {
  TrainingArguments args = evaluating_arguments();
  args.per_device_train_batch_size = 2;
  for (const Request& request : {Request{.in_step = 5}, Request{.in_evaluation = 6}, Request{.in_save = 8}}) {
    clear();
    args.save_strategy = request.in_save > 0 ? Strategy::steps : Strategy::no;
    args.save_steps = 8;
    const int asked = request.in_save > 0 ? 0 : 1;
    std::array<End, 2> ends;
    comm::run_threads(2, [&](comm::ProcessGroup& group) {
      const parallel::Team team = parallel::team_of(group);
      const StoppableRun one(args, group.rank() == asked ? request : Request{}, {}, team);
      ends[static_cast<std::size_t>(group.rank())] = one.end();
    });
    const std::int64_t expected = request.in_step + request.in_evaluation + request.in_save;
    for (const End& end : ends) {
      EXPECT_TRUE(end.interrupted);
      EXPECT_EQ(end.step, expected);
    }
    EXPECT_EQ(ends[0].weights, ends[1].weights);
    EXPECT_EQ(checkpoints(), std::vector<std::int64_t>{expected});
    EXPECT_EQ(ends[0].evaluated, request.in_evaluation > 0 ? 2 * 40 + 16 : expected / 2 * 40);
  }
}

}  // namespace
}  // namespace hearth
