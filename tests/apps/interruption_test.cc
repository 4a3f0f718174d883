// Training that a signal stops: a checkpoint, exit status 75, and the same weights in the end.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "hearth/base/exit_status.h"
#include "hearth/io/checkpoint_folders.h"
#include "tests/apps/job.h"

namespace hearth {
namespace {

class Interruption : public ProgramTest {
 protected:
  // Trains for ever, at a constant rate.
  static std::string endless(const std::string& flags = "", const std::string& steps = "1000000") {
    return job() + " --do_train --lr_scheduler_type constant --save_strategy no --max_steps " + steps + " " + flags;
  }
  static void wait_until(const std::function<bool()>& condition) {
    for (int tries = 0; tries < 12000 && !condition(); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(condition());
  }
  void wait_for_text(const std::string& part, std::size_t times = 1) const {
    wait_until([&] {
      std::size_t found = 0;
      const std::string all = fs::exists(folder() / ".out0") ? text(".out0") : "";
      for (std::size_t at = all.find(part); at != all.npos && found < times; at = all.find(part, at + 1)) ++found;
      return found == times;
    });
  }
  void wait_for_steps(std::size_t count) const { wait_for_text("\"loss\"", count); }

  // The step of the only checkpoint.
  std::int64_t saved_step() const {
    const std::vector<fs::path> all = io::list_checkpoints(folder() / "out");
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? 0 : io::checkpoint_step(all.back()).value_or(0);
  }
  void expect_saved(const Outcome& outcome, const std::string& signal) const {
    EXPECT_EQ(outcome.status, kInterruptedStatus) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, fmt::format("stopped by {} after step {} of ", signal, saved_step())));
    EXPECT_TRUE(contains(outcome.err,
                         fmt::format("out/checkpoint-{} is saved; to resume, run the same command", saved_step())));
    EXPECT_FALSE(fs::exists(folder() / "out/model.safetensors"));
  }
  // Five steps from the checkpoint on, and the same steps without an interruption.
  template <class Run>
  void expect_same_weights_after(const Run& run) const {
    const std::string steps = std::to_string(saved_step() + 5);
    run("--output_dir out", steps);
    run("--output_dir whole", steps);
    EXPECT_TRUE(same("out/model.safetensors", "whole/model.safetensors"));
  }
  // A validation file that takes seconds.
  std::string long_evaluation() const {
    io::Json dev = io::read_json(kFixtures / "dev.json");
    const io::Json once = dev["data"];
    for (int copy = 0; copy < 300; ++copy)
      for (io::Json example : once) {
        example["id"] = fmt::format("{}-{}", example["id"].get<std::string>(), copy);
        dev["data"].push_back(example);
      }
    write("dev.json", io::dump_json(dev, 1));
    return " --validation_file dev.json --per_device_eval_batch_size 1 --do_eval";
  }
};

TEST_F(Interruption, ByAnyOfTheSignals) {
  for (const auto& [signal, name] : {std::pair(SIGINT, "SIGINT"), std::pair(SIGHUP, "SIGHUP"),
                                     std::pair(SIGUSR1, "SIGUSR1"), std::pair(SIGTERM, "SIGTERM")}) {
    for (const char* earlier : {"out", ".out0"}) fs::remove_all(folder() / earlier);
    Job one(folder(), {endless("--output_dir out")}, "env --default-signal");
    wait_for_steps(2);
    ::kill(one.pid(0), signal);
    expect_saved(one.wait(0), name);
  }
  expect_same_weights_after([&](const std::string& flags, const std::string& steps) {
    const Outcome outcome = hearth(endless(flags, steps));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
  });
}

TEST_F(Interruption, TellsHowToResumeWhereTheSameCommandWouldNot) {
  Job one(folder(), {endless("--output_dir out --overwrite_output_dir")});
  wait_for_steps(1);
  ::kill(one.pid(0), SIGTERM);
  const Outcome outcome = one.wait(0);
  EXPECT_TRUE(contains(outcome.err, fmt::format("give --resume_from_checkpoint out/checkpoint-{}", saved_step())))
      << outcome.err;
}

TEST_F(Interruption, NotByAHangUpThatNohupIgnores) {
  Job one(folder(), {endless("--output_dir out")}, "env --ignore-signal=HUP");
  wait_for_steps(2);
  ::kill(one.pid(0), SIGHUP);
  wait_for_steps(lines_of(text(".out0")).size() + 20);
  ::kill(one.pid(0), SIGTERM);
  expect_saved(one.wait(0), "SIGTERM");
}

TEST_F(Interruption, AbandonsAnEvaluationWithinTraining) {
  Job one(folder(), {endless("--output_dir out --eval_strategy steps --eval_steps 1" + long_evaluation())});
  wait_for_steps(1);
  ::kill(one.pid(0), SIGTERM);
  const Outcome outcome = one.wait(0);
  expect_saved(outcome, "SIGTERM");
  EXPECT_EQ(saved_step(), 1);
  EXPECT_FALSE(contains(outcome.out, "eval_loss"));
  EXPECT_EQ(json("out/checkpoint-1/trainer_state.json")["stateful_callbacks"]["hearth"]["evaluation_skipped"], true);
}

TEST_F(Interruption, OfTheEvaluationAfterTrainingLeavesTheModel) {
  Job one(folder(), {endless("--output_dir out" + long_evaluation(), "2")});
  wait_for_text("train_runtime");
  wait_until([&] { return fs::exists(folder() / "out/trainer_state.json"); });
  ::kill(one.pid(0), SIGTERM);
  EXPECT_EQ(one.wait(0).status, 128 + SIGTERM);
  EXPECT_TRUE(fs::exists(folder() / "out/model.safetensors"));
}

class DistributedInterruption : public Interruption {
 protected:
  void SetUp() override {
    if (!has_plugin("gloo")) GTEST_SKIP() << "the plug-in gloo was not built";
  }
};

TEST_F(DistributedInterruption, OfOneRankStopsBoth) {
  const std::string words = endless("--output_dir out --ddp_backend gloo");
  {
    Job both(folder(), {words, words});
    wait_for_steps(2);
    ::kill(both.pid(1), SIGUSR1);
    const Outcome second = both.wait(1), first = both.wait(0);
    EXPECT_EQ(second.status, kInterruptedStatus) << second.err;
    expect_saved(first, "a signal to another process");
  }
  expect_same_weights_after([&](const std::string& flags, const std::string& steps) {
    const std::string rest = endless("--ddp_backend gloo " + flags, steps);
    Job both(folder(), {rest, rest});
    for (const int rank : {1, 0}) EXPECT_EQ(both.wait(rank).status, 0) << text(".err0");
  });
}

}  // namespace
}  // namespace hearth
