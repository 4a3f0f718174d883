// The program in two processes on one host, without a launcher, over gloo and over shared memory.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <thread>

#include "hearth/cpu/topology.h"
#include "tests/apps/job.h"

namespace hearth {
namespace {

class Distributed : public ProgramTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (!has_plugin(GetParam())) GTEST_SKIP() << "the plug-in " << GetParam() << " was not built";
  }

  static std::string words(const std::string& flags) {
    return job() + " --ddp_backend " + GetParam() + " --ddp_timeout 60 --do_train " + flags;
  }
  // The first rank's outcome, where both succeed.
  Outcome two(const std::string& flags, const std::string& variables = "") const {
    Job both(folder(), {words(flags), words(flags)}, variables);
    const Outcome second = both.wait(1), first = both.wait(0);
    EXPECT_EQ(first.status, 0) << first.err;
    EXPECT_EQ(second.status, 0) << second.err;
    EXPECT_EQ(second.out, "");
    return first;
  }
  std::vector<double> losses(const fs::path& output_dir) const {
    std::vector<double> values;
    const io::Json state = json(output_dir / "trainer_state.json");
    for (const io::Json& row : state["log_history"])
      if (row.contains("loss")) values.push_back(row["loss"].get<double>());
    return values;
  }
  // The step of the newest checkpoint in out; older checkpoints come and go while the job runs.
  int last_step() const {
    const std::string prefix = "checkpoint-";
    int last = 0;
    if (fs::exists(folder() / "out"))
      for (const std::string& name : names_in(folder() / "out"))
        if (name.starts_with(prefix)) last = std::max(last, std::stoi(name.substr(prefix.size())));
    return last;
  }
  void expect_same_losses(const fs::path& a, const fs::path& b) const {
    const std::vector<double> first = losses(a), second = losses(b);
    ASSERT_EQ(first.size(), 6u);
    ASSERT_EQ(second.size(), 6u);
    for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NEAR(first[i], second[i], 1.5e-4) << i;
  }
};

// Six steps, before the epoch's last batch, where two processes repeat samples and one does not.
TEST_P(Distributed, TwoProcessesTrainAsOne) {
  const Outcome one =
      run_qa("--do_train --do_eval --max_steps 6 --per_device_train_batch_size 8 --output_dir one --seed 3");
  ASSERT_EQ(one.status, 0) << one.err;
  const std::string flags = "--do_eval --max_steps 6 --per_device_train_batch_size 4 --seed 3 --output_dir ";
  const Outcome outcome = two(flags + "two", "LD_DEBUG=files LD_DEBUG_OUTPUT=" + (folder() / "loaded").string());
  EXPECT_TRUE(contains(outcome.out, std::string("2 processes, 2 of them on this host, over ") + GetParam()));
  EXPECT_TRUE(contains(outcome.out, "Total train batch size (w. parallel, distributed & accumulation) = 8"));
  expect_same_losses("one", "two");
  EXPECT_EQ(names_in(folder() / "one"), names_in(folder() / "two"));
  EXPECT_EQ(json("one/eval_results.json")["eval_samples"], json("two/eval_results.json")["eval_samples"]);
  // Sums in another order may turn a near-tie, but not many.
  const io::Json predicted = json("one/eval_predictions.json"), together = json("two/eval_predictions.json");
  ASSERT_EQ(keys_of(predicted), keys_of(together));
  std::size_t same_answers = 0;
  for (const auto& [question, answer] : predicted.items()) same_answers += answer == together[question];
  EXPECT_GE(same_answers, predicted.size() - 2);
  int loaded = 0;
  for (const std::string& name : names_in(folder()))
    if (name.starts_with("loaded.")) loaded += contains(text(name), std::string("libhearth_comm_") + GetParam());
  EXPECT_EQ(loaded, 2);
}

TEST_P(Distributed, ShardsOfTwoAreResumedByOne) {
  const std::string steps = "--max_steps 6 --save_steps 3 --output_dir ";
  two("--per_device_train_batch_size 4 --sharded_optimizer " + steps + "two");
  const Outcome one =
      run_qa("--do_train --per_device_train_batch_size 8 --resume_from_checkpoint two/checkpoint-3 " + steps + "one");
  ASSERT_EQ(one.status, 0) << one.err;
  expect_same_losses("one", "two");
}

// The second rank works in another folder, as on a host that does not share the first one's disk.
TEST_P(Distributed, OnlyTheFirstRankNeedsToSeeTheCheckpoint) {
  const std::string flags = "--max_steps 4 --save_steps 2 --sharded_optimizer --output_dir ";
  two(flags + "whole");
  fs::create_directories(folder() / "elsewhere");
  fs::create_directories(folder() / "cut");
  fs::copy(folder() / "whole/checkpoint-2", folder() / "cut/checkpoint-2");
  const Outcome first = two(flags + "cut", "sh -c '[ $RANK = 0 ] || cd elsewhere; exec \"$0\" \"$@\"'");
  EXPECT_TRUE(contains(first.out, "resuming from cut/checkpoint-2: step 2 of 4")) << first.out;
  EXPECT_TRUE(fs::is_empty(folder() / "elsewhere"));
  for (const char* file : {"model.safetensors", "checkpoint-4/optimizer.safetensors"})
    EXPECT_TRUE(same(fs::path("whole") / file, fs::path("cut") / file)) << file;
}

TEST_P(Distributed, RanksThatDisagreeEnd) {
  const auto expect_errors = [&](const std::string& second_flags, const std::string& complaint) {
    const std::string flags = words("--overwrite_output_dir --output_dir out --seed 3");
    Job both(folder(), {flags, flags + second_flags});
    for (const int rank : {0, 1})
      EXPECT_TRUE(
          contains(both.wait(rank).error(), fmt::format("rank {}: the processes disagree: {}", rank, complaint)));
    EXPECT_FALSE(fs::exists(folder() / "out/model.safetensors"));
  };
  expect_errors(" --seed 4", "--seed is 3 on rank 0, 4 on rank 1");
  expect_errors(" --train_file " + (kFixtures / "dev.json").string(), "the training data is 50 features");
}

TEST_P(Distributed, WhereOneFailsTheOtherEnds) {
  fs::create_directories(folder() / "out");
  write("out/file", "somebody's");
  Job both(folder(), {words("--output_dir out"), words("--output_dir out")});
  EXPECT_TRUE(contains(both.wait(0).error(), "rank 0: the output folder out exists and is not empty"));
  EXPECT_TRUE(contains(both.wait(1).error(), "rank 1: "));
}

TEST_P(Distributed, AFileThatOneRankLacksEndsAllBeforeAnythingIsWritten) {
  Job both(folder(), {words("--output_dir out"), words("--output_dir out --train_file none.json")});
  EXPECT_TRUE(contains(both.wait(1).error(), "rank 1: Cannot read none.json"));
  const Outcome first = both.wait(0);
  EXPECT_TRUE(contains(first.error(), "rank 0: ") && contains(first.error(), "rank 1")) << first.err;
  EXPECT_FALSE(fs::exists(folder() / "out"));
}

// Each is bound to a processor of its own before it starts.
TEST_P(Distributed, RanksOfOneProcessorTakeTurns) {
  const cpu::UsableMachine machine = cpu::usable_machine();
  const auto node = std::ranges::find_if(machine.nodes, [](const auto& one) { return one.cores.size() >= 2; });
  if (node == machine.nodes.end()) GTEST_SKIP() << "needs two cores of one NUMA node";
  const int first = node->cores[0][0], second = node->cores[1][0];
  const std::string flags = words("--output_dir out --num_train_epochs 100000 --save_steps 5 --save_total_limit 2");
  using Seen = std::array<std::set<bool>, 2>;  // by rank: whether it was on the first of the two processors, or not
  const auto watch = [&](const std::string& variable, int most_samples) {
    fs::remove_all(folder() / "out");
    const Job both(
        folder(), {flags, flags},
        fmt::format("{} sh -c 'exec taskset -c $((LOCAL_RANK ? {} : {})) \"$0\" \"$@\"'", variable, second, first));
    for (int tries = 0; tries < 1200 && last_step() < 5; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_GE(last_step(), 5) << text(".err0");
    Seen seen;
    for (int i = 0; i < most_samples && (seen[0].size() < 2 || seen[1].size() < 2); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      for (const int rank : {0, 1}) {
        cpu_set_t set;
        if (sched_getaffinity(both.pid(rank), sizeof set, &set) == 0 && CPU_COUNT(&set) == 1)
          seen[static_cast<std::size_t>(rank)].insert(CPU_ISSET(static_cast<std::size_t>(first), &set));
      }
    }
    return seen;
  };
  EXPECT_EQ(watch("", 1200), Seen({std::set{false, true}, std::set{false, true}}));
  EXPECT_EQ(watch("HEARTH_TAKE_TURNS=0", 30), Seen({std::set{true}, std::set{false}}));
}

TEST_P(Distributed, ARankIsKilled) {
  const std::string flags = "--output_dir out --num_train_epochs 100000 --save_steps 5 --save_total_limit 2";
  Job both(folder(), {words(flags), words(flags)});
  for (int tries = 0; tries < 1200 && last_step() < 10; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_GE(last_step(), 10) << text(".err0");
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // a rank publishes its operation ten times per second
  both.kill(1);
  const Outcome survivor = both.wait(0);
  EXPECT_TRUE(contains(survivor.error(), "rank 0: ") && contains(survivor.error(), "rank 1")) << survivor.err;
  EXPECT_TRUE(contains(survivor.error(), "(last seen in ")) << survivor.err;
  EXPECT_FALSE(contains(survivor.error(), "(last seen in start")) << survivor.err;  // it has trained for long
  EXPECT_EQ(both.wait(1).status, 128 + SIGKILL);
  const Outcome resumed =
      run_qa("--do_train --output_dir out --num_train_epochs 100000 --save_strategy no --max_steps 1");
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_TRUE(contains(resumed.out, "checkpoint found, resuming from")) << resumed.out;
}

INSTANTIATE_TEST_SUITE_P(Over, Distributed, testing::Values("gloo", "shm"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace hearth
