// Memory, threads, descriptors and disk space that run out: one sentence, and the checkpoints stay.
#include <gtest/gtest.h>

#include "tests/apps/program.h"

namespace hearth {
namespace {

class Resources : public ProgramTest {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer needs more address space than these limits leave";
#endif
  }

  static std::string address_space(int mebibytes) { return "ulimit -v " + std::to_string(mebibytes * 1024) + ";"; }

  // A model whose activations are larger than everything else.
  std::string wide_model() const {
    io::Json config = io::read_json(kFixtures / "config.json");
    config["intermediate_size"] = 16384;
    write("wide.json", io::dump_json(config, 2));
    EXPECT_EQ(hearth("init_model --config wide.json --output_dir wide --tokenizer " + start_model().string()).status,
              0);
    return " --model_name_or_path wide ";
  }
};

TEST_F(Resources, ARunThatCannotFitIsToldBeforeItStarts) {
  const std::string huge =
      "--do_train --output_dir out --config_overrides intermediate_size=1000000,num_hidden_layers=1000";
  const std::string error = run_qa(huge).error();
  for (const char* part : {"will not fit into memory: it needs about ", "(weights ", "gradients ", "optimizer state ",
                           "activations ", "may be taken by each process", "--gradient_checkpointing, --bf16"})
    EXPECT_TRUE(contains(error, part)) << error;
  EXPECT_FALSE(fs::exists(folder() / "out"));
  const std::string unchecked = run_qa(huge, "HEARTH_MEMORY_CHECK=0").error();
  EXPECT_FALSE(contains(unchecked, "will not fit into memory")) << unchecked;
}

TEST_F(Resources, TheWaysOutAreThoseThatFit) {
  const std::string flags =
      "--do_train --max_steps 2 --save_strategy no --per_device_train_batch_size 64 --output_dir out" + wide_model();
  const std::string error = run_qa(flags, address_space(500)).error();
  const auto at = error.find("any of these would fit: --per_device_train_batch_size ");
  ASSERT_NE(at, error.npos) << error;
  EXPECT_TRUE(contains(error, "`ulimit -v`")) << error;
  const Outcome found = run_qa(flags + "--auto_find_batch_size", address_space(500));
  EXPECT_EQ(found.status, 0) << found.err;
  EXPECT_TRUE(contains(found.out, "--auto_find_batch_size: a batch size of ")) << found.out;
  const auto batch = json("out/trainer_state.json")["train_batch_size"].get<int>();
  EXPECT_TRUE(contains(error, "--per_device_train_batch_size " + std::to_string(batch) + " (")) << error << batch;
}

// From too little for the program to more than enough: no limit ends a run by a signal.
TEST_F(Resources, AnyLimitOfAddressSpaceIsASentenceOrEnough) {
  const std::string flags =
      "--do_train --max_steps 2 --save_steps 1 --overwrite_output_dir --output_dir out --num_threads 2";
  int enough = 128;
  while (run_qa(flags, address_space(enough)).status != 0) {
    ASSERT_LT(enough, 4096);
    enough += enough / 4;
  }
  for (int limit = enough - 8; limit > enough - 136; limit -= 16) {
    const Outcome outcome = run_qa(flags, address_space(limit));
    if (outcome.status == 0 || contains(outcome.err, "error while loading shared libraries")) continue;
    EXPECT_EQ(outcome.status, 1) << limit << " MiB of " << enough << outcome.err;
    EXPECT_FALSE(outcome.error().empty()) << limit;
  }
}

TEST_F(Resources, ThreadsThatTheSystemRefusesAreASentence) {
  const std::string large_stacks = "ulimit -s unlimited; ulimit -S -s 4000000; ulimit -v 3000000;";
  for (const char* threads : {"1", "3"}) {
    const Outcome outcome = run_qa(std::string("--do_train --output_dir out --num_threads ") + threads, large_stacks);
    if (contains(outcome.err, "cannot modify limit")) GTEST_SKIP() << "the hard limit of stacks is too low here";
    EXPECT_TRUE(contains(outcome.error(), "the system refused to start ") &&
                contains(outcome.error(), "`ulimit -v` allows 2929 MiB"))
        << outcome.err;
  }
}

TEST_F(Resources, AFullDiskNamesTheLastCheckpoint) {
  const std::string flags = "--do_train --save_steps 2 --output_dir out --max_steps ";
  ASSERT_EQ(run_qa(flags + "2").status, 0);
  const std::string model = text("out/checkpoint-2/model.safetensors");
  const std::string error = run_qa(flags + "8", "ulimit -f 100;").error();  // 100 KiB or 50, in blocks of the shell
  EXPECT_TRUE(
      contains(error,
               "File too large; the last checkpoint is out/checkpoint-2, and --resume_from_checkpoint continues "
               "from it"))
      << error;
  EXPECT_EQ(text("out/checkpoint-2/model.safetensors"), model);
  EXPECT_EQ(run_qa(flags + "4").status, 0);
}

TEST_F(Resources, TooFewDescriptorsAreASentence) {
  for (int limit = 4; limit < 12; ++limit) {
    const Outcome outcome = run_qa("--do_train --max_steps 1 --overwrite_output_dir --output_dir out",
                                   "ulimit -n " + std::to_string(limit) + ";");
    if (outcome.status == 0) return;
    if (contains(outcome.err, "error while loading shared libraries")) continue;
    EXPECT_TRUE(contains(outcome.error(), "Too many open files")) << limit << outcome.err;
  }
}

TEST_F(Resources, TheCacheIsShownLimitedAndCleared) {
  EXPECT_EQ(run_qa("--do_train --max_steps 1 --output_dir out").status, 0);
  const std::string shown = hearth("cache").out;
  EXPECT_TRUE(contains(shown, "features: 1 file, ") && contains(shown, "at most 10240.0 MiB")) << shown;
  EXPECT_EQ(run_qa("--do_train --max_steps 1 --max_seq_length 60 --overwrite_output_dir --output_dir out",
                   "HEARTH_CACHE_LIMIT=0.000001")
                .status,
            0);
  EXPECT_TRUE(contains(hearth("cache").out, "features: 1 file, "));  // the newer one
  EXPECT_TRUE(contains(hearth("cache --clear").out, "removed from "));
  EXPECT_TRUE(contains(hearth("cache").out, "features: 0 files, 0.0 MiB"));
  EXPECT_TRUE(contains(hearth("cache", "HEARTH_CACHE_LIMIT=x").error(), "'x' is not a number of GiB"));
}

}  // namespace
}  // namespace hearth
