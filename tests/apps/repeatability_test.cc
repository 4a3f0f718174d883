// What repeats to the last bit, and what does not: docs/reliability.md, "Repeatability", states it in words.
#include <gtest/gtest.h>

#include "hearth/cpu/isa.h"
#include "tests/apps/job.h"
#include "tests/apps/program.h"

namespace hearth {
namespace {

const std::vector<std::string> kDtypes{"", "--bf16", "--fp16"};

class Repeatability : public ProgramTest {
 protected:
  static std::string flags(const std::string& dtype, const std::string& output_dir, const std::string& more = "") {
    return "--do_train --max_steps 6 --save_steps 3 --per_device_train_batch_size 4 --seed 7 " + dtype +
           " --config_overrides hidden_dropout_prob=0.1,attention_probs_dropout_prob=0.1 --output_dir " + output_dir +
           " " + more;
  }
  void train(const std::string& dtype, const std::string& output_dir, const std::string& more = "") const {
    const Outcome outcome = run_qa(flags(dtype, output_dir, more));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
  void train_on_two_ranks(const std::string& output_dir) const {
    const std::string arguments = job() + " " + flags("", output_dir, "--per_device_train_batch_size 2");
    Job ranks(folder(), {arguments, arguments});
    for (const int rank : {0, 1}) {
      const Outcome outcome = ranks.wait(rank);
      ASSERT_EQ(outcome.status, 0) << outcome.err;
    }
  }
  // The weights and moments after the last step.
  std::string bits(const fs::path& output_dir) const {
    return text(output_dir / "model.safetensors") + text(output_dir / "checkpoint-6/optimizer.safetensors");
  }
};

TEST_F(Repeatability, TheSameSeedGivesTheSameBitsForAnyNumberOfThreads) {
  for (const std::string& dtype : kDtypes) {
    train(dtype, "one" + dtype);
    for (const char* threads : {"2", "3"}) {
      train(dtype, threads + dtype, std::string("--num_threads ") + threads);
      EXPECT_TRUE(bits(threads + dtype) == bits("one" + dtype)) << threads << " threads " << dtype;
    }
  }
}

TEST_F(Repeatability, AnotherSeedOrDtypeGivesOtherBits) {
  train("", "seed7");
  train("", "seed8", "--seed 8");
  train("--bf16", "bf16");
  EXPECT_FALSE(bits("seed8") == bits("seed7"));
  EXPECT_FALSE(bits("bf16") == bits("seed7"));
}

TEST_F(Repeatability, AResumedRunHasTheBitsOfAnUninterruptedOne) {
  for (const std::string& dtype : kDtypes) {
    train(dtype, "whole" + dtype);
    fs::create_directory(folder() / ("resumed" + dtype));
    fs::copy(folder() / ("whole" + dtype) / "checkpoint-3", folder() / ("resumed" + dtype) / "checkpoint-3");
    train(dtype, "resumed" + dtype, "--num_threads 2");
    EXPECT_TRUE(bits("resumed" + dtype) == bits("whole" + dtype)) << dtype;
  }
}

TEST_F(Repeatability, TheSameRanksGiveTheSameBits) {
  if (!has_plugin("gloo")) GTEST_SKIP() << "the plug-in gloo was not built";
  train_on_two_ranks("first");
  train_on_two_ranks("second");
  EXPECT_TRUE(bits("second") == bits("first"));
}

// The levels sum in vectors of different width.
TEST_F(Repeatability, TheInstructionSetIsPartOfTheResult) {
  if (cpu::isa() < cpu::Isa::avx512) GTEST_SKIP() << "this processor has one level only";
  for (const char* level : {"avx2", "avx512"}) train("", level, std::string("--max_isa ") + level);
  train("", "again", "--max_isa avx2");
  EXPECT_TRUE(bits("again") == bits("avx2"));
  EXPECT_FALSE(bits("avx512") == bits("avx2"));
}

}  // namespace
}  // namespace hearth
