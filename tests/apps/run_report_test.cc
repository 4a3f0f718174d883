// The lines that a run logs at its start and at its end.
#include "hearth/apps/run_report.h"

#include <gtest/gtest.h>

#include "hearth/cpu/topology.h"
#include "tests/apps/program.h"

namespace hearth {
namespace {

using RunReport = ProgramTest;

const std::string kTrain = "--do_train --max_steps 2 --save_strategy no --overwrite_output_dir ";

// The number of lines that begin with these words.
int count_lines(const std::string& text, const std::string& beginning) {
  int count = 0;
  for (const std::string& line : lines_of(text)) count += line.starts_with(beginning);
  return count;
}

TEST_F(RunReport, ShowsTheSettingsThatWereGiven) {
  const std::string out = run_qa(kTrain + "--output_dir out").out;
  EXPECT_EQ(count_lines(out, "Settings that differ from their defaults"), 1) << out;
  EXPECT_EQ(count_lines(out, "  max_steps                      2"), 1) << out;
  EXPECT_EQ(count_lines(out, "  weight_decay "), 0) << out;
  for (const char* name : {"  processor ", "  instruction set ", "  threads "}) EXPECT_EQ(count_lines(out, name), 1);
  EXPECT_EQ(json("out/training_args.json").at("weight_decay"), 0.0);  // all of them

  const std::string verbose = run_qa(kTrain + "--output_dir out --verbose").out;
  EXPECT_EQ(count_lines(verbose, "  weight_decay                   0"), 1) << verbose;
  EXPECT_TRUE(contains(verbose, "  max_steps                      2  *\n")) << verbose;
  EXPECT_TRUE(contains(verbose, "(* differs from the default)")) << verbose;
}

TEST_F(RunReport, AnEvaluationKeepsTheSettingsOfTheTraining) {
  ASSERT_EQ(run_qa(kTrain + "--output_dir out").status, 0);
  const std::string settings = text("out/training_args.json");
  ASSERT_EQ(run_qa("--do_eval --output_dir out").status, 0);
  EXPECT_EQ(text("out/training_args.json"), settings);
  ASSERT_EQ(run_qa(kTrain + "--output_dir out --seed 3").status, 0);
  EXPECT_EQ(json("out/training_args.json").at("seed"), 3);
  ASSERT_EQ(run_qa("--do_eval --output_dir other").status, 0);
  EXPECT_EQ(json("other/training_args.json").at("do_eval"), true);
}

TEST_F(RunReport, EndsWithASummary) {
  const std::string out =
      run_qa(
          "--do_train --eval_strategy steps --eval_steps 2 --save_steps 2 --max_steps 4 --load_best_model_at_end "
          "--metric_for_best_model f1 --output_dir 'my model'")
          .out;
  const std::size_t summary = out.find("\nSummary\n");
  ASSERT_NE(summary, out.npos) << out;
  const std::string end = out.substr(summary);
  const io::Json state = json("my model/trainer_state.json");
  EXPECT_EQ(count_lines(end, "  model                          my model"), 1) << end;
  EXPECT_TRUE(contains(end, " at step " + state.at("best_global_step").dump() + ", my model/checkpoint-")) << end;
  EXPECT_EQ(count_lines(end, "  best                           eval_f1 "), 1) << end;
  EXPECT_EQ(count_lines(end, "  evaluation                     eval_exact_match "), 1) << end;
  for (const char* name : {"  time ", "  training speed ", "  peak memory "})
    EXPECT_EQ(count_lines(end, name), 1) << end;
  EXPECT_TRUE(contains(end, " MiB, this process\n")) << end;
  EXPECT_TRUE(end.ends_with("hearth ask --model 'my model' --context_text \"...\" --question \"...\"\n")) << end;

  const std::string evaluation = run_qa("--do_eval --output_dir out").out;
  EXPECT_EQ(count_lines(evaluation, "  results                        out"), 1) << evaluation;
  EXPECT_FALSE(contains(evaluation, "hearth ask")) << evaluation;
}

TEST_F(RunReport, AFinishedRunStaysAsItIs) {
  const std::string flags = "--do_train --do_eval --max_steps 2 --output_dir out";
  ASSERT_EQ(run_qa(flags).status, 0);
  const std::string results = text("out/train_results.json"), state = text("out/trainer_state.json"),
                    model = text("out/model.safetensors"), settings = text("out/training_args.json"),
                    card = text("out/README.md");
  const Outcome again = run_qa(flags + " --learning_rate 1e-3 --max_answer_length 7");
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_TRUE(contains(again.out, "already finished: this run ended at step 2 of 2")) << again.out;
  EXPECT_FALSE(contains(again.out, "train metrics")) << again.out;
  EXPECT_TRUE(contains(again.out, "eval metrics")) << again.out;
  EXPECT_EQ(text("out/train_results.json"), results);
  EXPECT_EQ(text("out/trainer_state.json"), state);
  EXPECT_TRUE(text("out/model.safetensors") == model);
  EXPECT_EQ(text("out/training_args.json"), settings);
  EXPECT_EQ(text("out/README.md"), card);
}

TEST_F(RunReport, ARunThatDiedBeforeItsFirstCheckpointStartsAgain) {
  const std::string flags = "--do_train --max_steps 2 --output_dir out";
  ASSERT_EQ(run_qa(flags).status, 0);
  for (const char* name : {"checkpoint-2", "model.safetensors", "config.json"})
    std::filesystem::remove_all(folder() / "out" / name);
  const Outcome again = run_qa(flags + " --seed 7");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_TRUE(contains(again.out, "ended before its first checkpoint")) << again.out;
  EXPECT_TRUE(contains(text("out/training_args.json"), "\"seed\": 7"));
}

TEST_F(RunReport, TheSummaryOfAResumedRunNeedsNoMetric) {
  ASSERT_EQ(run_qa("--do_train --eval_strategy steps --eval_steps 1 --save_steps 1 --max_steps 1 --output_dir out "
                   "--metric_for_best_model f1")
                .status,
            0);
  const Outcome resumed = run_qa("--do_train --max_steps 2 --output_dir out");
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_TRUE(contains(resumed.out, "Summary")) << resumed.out;
}

TEST_F(RunReport, WarnsOfMoreThreadsThanProcessors) {
  const auto warnings = [&](const std::string& flag) {
    return count_lines(run_qa("--do_eval --output_dir out " + flag).err, "warning: --num_threads");
  };
  EXPECT_EQ(warnings("--num_threads 1"), 0);
  const int one_too_many = cpu::topology().usable_processors + 1;
  EXPECT_EQ(warnings(fmt::format("--num_threads {} --max_eval_samples 1", one_too_many)), 1);
}

TEST_F(RunReport, MemoryIsInTheResultsWhereAskedFor) {
  ASSERT_EQ(
      run_qa("--do_train --do_eval --do_predict --max_steps 1 --skip_memory_metrics False --output_dir out").status, 0);
  for (const char* key : {"before_init_mem_cpu", "init_mem_cpu_alloc_delta", "init_mem_cpu_peaked_delta",
                          "train_mem_cpu_alloc_delta", "train_mem_cpu_peaked_delta"})
    EXPECT_TRUE(json("out/train_results.json").contains(key)) << key;
  for (const auto& [file, prefix] : {std::pair{"eval", "eval"}, {"predict", "test"}})
    for (const char* key : {"_mem_cpu_alloc_delta", "_mem_cpu_peaked_delta"})
      EXPECT_TRUE(json(std::string("out/") + file + "_results.json").contains(std::string(prefix) + key))
          << prefix << key;
  EXPECT_FALSE(json("out/eval_results.json").contains("before_init_mem_cpu"));
}

TEST_F(RunReport, ReadTokensAreInTheResultsWhereAskedFor) {
  ASSERT_EQ(run_qa("--do_train --do_eval --max_steps 1 --include_num_input_tokens_seen --output_dir out").status, 0);
  const io::Json seen = json("out/trainer_state.json").at("num_input_tokens_seen");
  EXPECT_GT(seen, 0);
  EXPECT_EQ(json("out/train_results.json").at("num_input_tokens_seen"), seen);
  EXPECT_EQ(json("out/eval_results.json").at("num_input_tokens_seen"), seen);
}

}  // namespace
}  // namespace hearth
