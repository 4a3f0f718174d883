// Callbacks of a program's own, on one rank and on two.
#include "hearth/train/callbacks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "hearth/base/profiler.h"
#include "tests/parallel/toy_team.h"
#include "tests/train/toy.h"

namespace hearth {
namespace {

using Steps = std::vector<std::int64_t>;

// Notes every event as "NAME STEP", and asks for something in one event of one step.
class Noting final : public TrainerCallback {
 public:
  using Ask = std::function<void(const std::string& event, TrainerControl&)>;
  explicit Noting(Ask ask = {}) : ask_(std::move(ask)) {}

  void on_train_begin(const TrainingProgress& p, TrainerControl& c) override { note("begin", p, c); }
  void on_step_end(const TrainingProgress& p, TrainerControl& c) override { note("step", p, c); }
  void on_epoch_end(const TrainingProgress& p, TrainerControl& c) override { note("epoch", p, c); }
  void on_log(const TrainingProgress& p, TrainerControl& c, const Metrics&) override { note("log", p, c); }
  void on_evaluate(const TrainingProgress& p, TrainerControl& c, const Metrics&) override { note("evaluate", p, c); }
  void on_save(const TrainingProgress& p, TrainerControl& c, const std::filesystem::path& folder) override {
    note("save", p, c);
    saved.push_back(folder);
  }
  void on_train_end(const TrainingProgress& p, TrainerControl& c) override { note("end", p, c); }

  std::vector<std::string> events;
  std::vector<std::filesystem::path> saved;

 private:
  void note(const std::string& name, const TrainingProgress& progress, TrainerControl& control) {
    events.push_back(name + " " + std::to_string(progress.global_step));
    if (ask_) ask_(events.back(), control);
  }

  Ask ask_;
};

Noting::Ask asks(std::string event, bool TrainerControl::*request) {
  return [=](const std::string& now, TrainerControl& control) {
    if (now == event) control.*request = true;
  };
}

// Notes the events around a step.
class NotingBeginnings final : public TrainerCallback {
 public:
  void on_epoch_begin(const TrainingProgress& p, TrainerControl&) override { note("epoch begins", p); }
  void on_step_begin(const TrainingProgress& p, TrainerControl&) override { note("step begins", p); }
  void on_step_end(const TrainingProgress& p, TrainerControl&) override { note("step ends", p); }

  std::vector<std::string> events;

 private:
  void note(const std::string& name, const TrainingProgress& progress) {
    events.push_back(name + " " + std::to_string(progress.global_step));
  }
};

class Callbacks : public TrainerTest {
 protected:
  // One epoch of six steps, in which the settings ask for nothing.
  TrainingArguments quiet_arguments() const {
    TrainingArguments args = arguments();
    args.num_train_epochs = 1;
    args.logging_strategy = Strategy::no;
    return args;
  }

  std::vector<std::string> events_of(const Noting::Ask& ask) const {
    const auto noting = std::make_shared<Noting>(ask);
    ToyModel model;
    ToyTrainer(model, quiet_arguments(), toy_dataset(24), {.eval_dataset = toy_dataset(8), .callbacks = {noting}})
        .train();
    return noting->events;
  }
};

std::int64_t place_of(const std::vector<std::string>& events, const std::string& event) {
  return std::ranges::find(events, event) - events.begin();
}

TEST_F(Callbacks, SeeTheEventsOfARunInOrder) {
  EXPECT_EQ(events_of({}), (std::vector<std::string>{"begin 0", "step 1", "step 2", "step 3", "step 4", "step 5",
                                                     "step 6", "epoch 6", "log 6", "end 6"}));
}

TEST_F(Callbacks, SeeEpochsAndStepsBegin) {
  const auto noting = std::make_shared<NotingBeginnings>();
  ToyModel model;
  TrainingArguments args = quiet_arguments();
  args.max_steps = 2;
  ToyTrainer(model, args, toy_dataset(24), {.callbacks = {noting}}).train();
  EXPECT_EQ(noting->events, (std::vector<std::string>{"epoch begins 0", "step begins 0", "step ends 1", "step begins 1",
                                                      "step ends 2"}));
}

TEST_F(Callbacks, LogEvaluateAndSaveOnRequest) {
  const auto logged = events_of(asks("step 2", &TrainerControl::should_log));
  EXPECT_EQ(place_of(logged, "log 2"), place_of(logged, "step 2") + 1);
  const auto evaluated = events_of(asks("step 3", &TrainerControl::should_evaluate));
  EXPECT_EQ(place_of(evaluated, "evaluate 3"), place_of(evaluated, "step 3") + 2);  // the row is logged first
  events_of(asks("step 4", &TrainerControl::should_save));
  EXPECT_EQ(checkpoints(), Steps{4});
}

TEST_F(Callbacks, MeetARequestOnce) {
  const auto events = events_of(asks("step 2", &TrainerControl::should_evaluate));
  EXPECT_EQ(std::ranges::count_if(events, [](const std::string& e) { return e.starts_with("evaluate"); }), 1);
}

TEST_F(Callbacks, StopTheRunAtOnceFromAnyEvent) {
  for (const char* event : {"step 3", "log 3", "evaluate 3", "save 3"}) {
    const auto noting = std::make_shared<Noting>(asks(event, &TrainerControl::should_training_stop));
    TrainingArguments args = arguments();
    args.eval_strategy = args.save_strategy = Strategy::steps;
    args.eval_steps = args.save_steps = 3;
    ToyModel model;
    ToyTrainer trainer(model, args, toy_dataset(24), {.eval_dataset = toy_dataset(8), .callbacks = {noting}});
    trainer.train();
    EXPECT_EQ(trainer.progress().global_step, 3) << event;
    EXPECT_EQ(noting->events.back(), "end 3") << event;
    EXPECT_FALSE(trainer.was_interrupted());
  }
}

TEST_F(Callbacks, AreAddedLater) {
  const auto noting = std::make_shared<Noting>();
  ToyModel model;
  ToyTrainer trainer(model, quiet_arguments(), toy_dataset(24));
  trainer.add_callback(noting);
  trainer.train();
  EXPECT_EQ(noting->events.back(), "end 6");
  EXPECT_TRUE(contains(error_of([&] { trainer.add_callback(nullptr); }), "a callback is null"));
}

TEST_F(Callbacks, ChangeNoBits) {
  ToyModel with(0.1f), without(0.1f);
  ToyTrainer(with, arguments(), toy_dataset(24), {.callbacks = {std::make_shared<Noting>()}}).train();
  ToyTrainer(without, arguments(), toy_dataset(24)).train();
  EXPECT_EQ(with.weights(), without.weights());
}

// Rank 1 alone asks; both ranks do it, at the same step.
TEST_F(Callbacks, OfOneRankCountForAll) {
  std::array<std::vector<std::string>, 2> events;
  comm::run_threads(2, [&](comm::ProcessGroup& group) {
    const auto ask = [](const std::string& now, TrainerControl& control) {
      if (now == "step 1") control.should_log = control.should_evaluate = control.should_save = true;
      if (now == "step 2") control.should_training_stop = true;
    };
    const auto noting = std::make_shared<Noting>(group.rank() == 1 ? Noting::Ask(ask) : Noting::Ask());
    ToyModel model;
    ToyTrainer(model, quiet_arguments(), toy_dataset(24), {.eval_dataset = toy_dataset(8), .callbacks = {noting}},
               parallel::team_of(group, group.rank()))
        .train();
    events[static_cast<std::size_t>(group.rank())] = noting->events;
  });
  EXPECT_EQ(events[0], events[1]);
  for (const char* event : {"log 1", "evaluate 1", "save 1", "end 2"})
    EXPECT_EQ(std::ranges::count(events[0], event), std::string(event) == "log 1" ? 2 : 1) << event;
  EXPECT_EQ(checkpoints(), Steps{1});
}

TEST_F(Callbacks, OfOneRankAloneAreAMistake) {
  comm::run_threads(2, [&](comm::ProcessGroup& group) {
    TrainerOptions options;
    if (group.rank() == 0) options.callbacks = {std::make_shared<Noting>()};
    ToyModel model;
    ToyTrainer trainer(model, quiet_arguments(), toy_dataset(24), options, parallel::team_of(group));
    EXPECT_TRUE(contains(error_of([&] { trainer.train(); }), "the list of callbacks"));
  });
}

// Watches the steps of all ranks.
struct Watching final : TrainerCallback {
  bool makes_requests() const override { return false; }
  void on_step_end(const TrainingProgress& progress, TrainerControl&) override {
    ASSERT_NE(progress.steps, nullptr);
    facts = *progress.steps;
    profiled = profiled || (facts.profiler != nullptr && facts.profiler->steps() > 0);
  }

  StepFacts facts;
  bool profiled = false;
};

TEST_F(Callbacks, ThatOnlyWatchMayBeOnOneRankAlone) {
  const auto watching = std::make_shared<Watching>();
  comm::run_threads(2, [&](comm::ProcessGroup& group) {
    TrainerOptions options;
    if (group.rank() == 0) options.callbacks = {watching};
    options.is_watched = group.rank() == 0;
    ToyModel model;
    ToyTrainer(model, arguments(), toy_dataset(48), options, parallel::team_of(group)).train();
  });
  const StepFacts& facts = watching->facts;
  EXPECT_GT(facts.loss, 0);
  EXPECT_GT(facts.grad_norm, 0);
  EXPECT_GT(facts.learning_rate, 0);
  EXPECT_GT(facts.matmul_rate, 0);
  EXPECT_GT(facts.tokens, 48 * 2);
  EXPECT_TRUE(watching->profiled);
  ASSERT_EQ(facts.ranks.size(), 2u);
  for (const RankLoad& rank : facts.ranks) {
    EXPECT_GT(rank.busy_seconds, 0);
    EXPECT_GT(rank.memory_bytes, 1e6);
  }
}

}  // namespace
}  // namespace hearth
