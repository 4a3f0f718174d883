// The whole job, with all the files it leaves.
#include <gtest/gtest.h>

#include "tests/apps/program.h"

namespace hearth {
namespace {

const std::set<std::string> kModelFiles{"config.json",           "model.safetensors",       "tokenizer.json",
                                        "tokenizer_config.json", "special_tokens_map.json", "vocab.txt",
                                        "training_args.json"};

std::set<std::string> with(std::set<std::string> names, const std::set<std::string>& more) {
  names.insert(more.begin(), more.end());
  return names;
}

std::vector<std::string> ids_of(const fs::path& dataset) {
  std::vector<std::string> ids;
  const io::Json records = io::read_json(dataset).at("data");
  for (const io::Json& record : records) ids.push_back(record.at("id").get<std::string>());
  return ids;
}

using RunQa = ProgramTest;

class RunQaInFormat : public ProgramTest, public testing::WithParamInterface<const char*> {
 protected:
  void check_predictions(const std::string& prefix, const std::string& dataset) const {
    const io::Json predictions = json("out/" + prefix + "_predictions.json");
    const io::Json nbest = json("out/" + prefix + "_nbest_predictions.json");
    EXPECT_EQ(keys_of(predictions), ids_of(kFixtures / dataset));
    EXPECT_EQ(keys_of(nbest), ids_of(kFixtures / dataset));
    EXPECT_TRUE(text("out/" + prefix + "_predictions.json").starts_with("{\n    \"q0\": \""));
    EXPECT_TRUE(text("out/" + prefix + "_predictions.json").ends_with("\"\n}\n"));
    for (const auto& [id, answers] : nbest.items()) {
      ASSERT_FALSE(answers.empty());
      EXPECT_EQ(keys_of(answers[0]), std::vector<std::string>({"start_logit", "end_logit", "text", "probability"}));
      EXPECT_EQ(answers[0].at("text"), predictions.at(id));
      double sum = 0, last = 1e9;
      for (const io::Json& answer : answers) {
        const double score = answer.at("start_logit").get<double>() + answer.at("end_logit").get<double>();
        EXPECT_LE(score, last + 1e-5);
        last = score;
        sum += answer.at("probability").get<double>();
      }
      EXPECT_NEAR(sum, 1, 1e-5);
    }
  }

  std::vector<std::string> result_keys(const std::string& split) const {
    EXPECT_FALSE(text("out/" + split + "_results.json").ends_with("\n"));
    return keys_of(json("out/" + split + "_results.json"));
  }
};

TEST_P(RunQaInFormat, TrainsEvaluatesAndPredicts) {
  const std::string format = GetParam();
  const std::string flag = format == "fp32" ? "" : " --" + format;
  const Outcome outcome =
      run_qa("--do_train --do_eval --do_predict --num_train_epochs 3 --save_steps 10 --output_dir out" + flag);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"***** Running training *****\n  Num examples = 50\n  Num Epochs = 3\n",
                           "Total optimization steps = 21\n", "***** train metrics *****\n",
                           "***** eval metrics *****\n", "***** predict metrics *****\n", "packed batches: "})
    EXPECT_TRUE(contains(outcome.out, part)) << part << outcome.out;

  std::set<std::string> scaler;
  if (format == "fp16") scaler = {"scaler.json"};
  const auto checkpoint = with(
      with(kModelFiles, {"checksums.json", "optimizer.safetensors", "scheduler.json", "trainer_state.json"}), scaler);
  EXPECT_EQ(names_in(folder() / "out"),
            with(kModelFiles, {"README.md", "trainer_state.json", "train_results.json", "eval_results.json",
                               "predict_results.json", "all_results.json", "eval_predictions.json",
                               "eval_nbest_predictions.json", "report.html", "report.json", "predict_predictions.json",
                               "predict_nbest_predictions.json", "checkpoint-10", "checkpoint-20", "checkpoint-21"}));
  for (const char* name : {"out/checkpoint-10", "out/checkpoint-20", "out/checkpoint-21"})
    EXPECT_EQ(names_in(folder() / name), checkpoint) << name;
  EXPECT_TRUE(same("out/checkpoint-21/model.safetensors", "out/model.safetensors"));

  check_predictions("eval", "dev.json");
  check_predictions("predict", "test.json");
  std::vector<std::string> train_keys{"epoch",         "total_flos",    "train_loss",
                                      "train_runtime", "train_samples", "train_samples_per_second"};
  if (format == "fp16") train_keys.push_back("train_skipped_steps");
  train_keys.push_back("train_steps_per_second");
  EXPECT_EQ(result_keys("train"), train_keys);
  EXPECT_EQ(result_keys("eval"),
            std::vector<std::string>({"epoch", "eval_exact_match", "eval_f1", "eval_runtime", "eval_samples",
                                      "eval_samples_per_second", "eval_steps_per_second"}));
  EXPECT_EQ(result_keys("predict"),
            std::vector<std::string>({"predict_samples", "test_exact_match", "test_f1", "test_runtime",
                                      "test_samples_per_second", "test_steps_per_second"}));
  const std::vector<std::string> all = result_keys("all");
  EXPECT_EQ(all.size(), train_keys.size() + 6 + 6);
  EXPECT_EQ(json("out/eval_results.json").at("eval_samples"), 16);  // features
  EXPECT_EQ(json("out/train_results.json").at("train_samples"), 50);

  const io::Json state = json("out/trainer_state.json");
  EXPECT_EQ(state.at("global_step"), 21);
  EXPECT_EQ(state.at("log_history").size(), 21u + 1);
  EXPECT_LT(state.at("log_history")[20].at("loss").get<double>(), state.at("log_history")[0].at("loss").get<double>());
  EXPECT_EQ(json("out/config.json").at("architectures")[0], "BertForQuestionAnswering");
  EXPECT_EQ(json("out/training_args.json").at(format == "fp32" ? "do_train" : format), true);

  const Outcome again =
      hearth("run_qa --model_name_or_path out --validation_file " + (kFixtures / "dev.json").string() +
             " --do_eval --max_seq_length 64 --doc_stride 16 --output_dir again" + flag);
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_TRUE(same("again/eval_nbest_predictions.json", "out/eval_nbest_predictions.json"));
  EXPECT_FALSE(fs::exists(folder() / "again" / "model.safetensors"));
  EXPECT_TRUE(json("again/eval_results.json").contains("eval_model_preparation_time"));
}

INSTANTIATE_TEST_SUITE_P(Formats, RunQaInFormat, testing::Values("fp32", "bf16", "fp16"),
                         [](const auto& format) { return std::string(format.param); });

TEST_F(RunQa, QuestionsWithoutAnswers) {
  const Outcome outcome = hearth(
      job("_v2") + " --version_2_with_negative --do_train --do_eval --do_predict --max_steps 3 --output_dir out");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const io::Json odds = json("out/eval_null_odds.json"), predictions = json("out/eval_predictions.json");
  EXPECT_EQ(keys_of(odds), ids_of(kFixtures / "dev_v2.json"));
  for (const auto& [id, value] : odds.items())
    EXPECT_EQ(value.get<double>() > 0, predictions.at(id) == "") << id << " " << value;
  const io::Json results = json("out/eval_results.json");
  for (const char* key : {"eval_exact", "eval_f1", "eval_HasAns_exact", "eval_NoAns_f1", "eval_best_exact",
                          "eval_best_exact_thresh", "eval_best_f1", "eval_best_f1_thresh"})
    EXPECT_TRUE(results.contains(key)) << key;
  EXPECT_EQ(results.at("eval_total"), 9);
  EXPECT_EQ(results.at("eval_NoAns_total"), 3);
  EXPECT_TRUE(fs::exists(folder() / "out" / "predict_null_odds.json"));

  const auto empties = [&](const std::string& threshold) {
    const Outcome other =
        hearth("run_qa --model_name_or_path out --do_eval --version_2_with_negative --validation_file " +
               (kFixtures / "dev_v2.json").string() + " --max_seq_length 64 --doc_stride 16 " +
               "--output_dir other --null_score_diff_threshold " + threshold);
    EXPECT_EQ(other.status, 0) << other.err;
    int count = 0;
    const io::Json answers = json("other/eval_predictions.json");
    for (const io::Json& answer : answers) count += answer == "";
    return count;
  };
  EXPECT_EQ(empties("-1000"), 9);
  EXPECT_EQ(empties("1000"), 0);
}

// The same job in the spellings that people use.
TEST_F(RunQa, SpellingsMeanTheSame) {
  ASSERT_EQ(run_qa("--do_train --max_steps 3 --save_strategy no --output_dir plain").status, 0);
  const std::string model = text("plain/model.safetensors");

  const Outcome odd = run_qa(
      "--do-train --max-steps 9 --max_steps=3 --save-strategy no --bf16 --bf16 False "
      "--no_cuda --use_ipex --use_ipex --output-dir odd");
  ASSERT_EQ(odd.status, 0) << odd.err;
  EXPECT_TRUE(text("odd/model.safetensors") == model);
  for (const char* flag : {"--no_cuda", "--use_ipex"}) {
    int said = 0;
    for (const std::string& line : lines_of(odd.out + odd.err)) said += contains(line, flag);
    EXPECT_EQ(said, 1) << flag << odd.out << odd.err;
  }

  io::Json flags;
  const std::vector<std::string> words = [&] {
    std::istringstream stream(job());
    return std::vector<std::string>(std::istream_iterator<std::string>(stream), {});
  }();
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) flags[words[i].substr(2)] = words[i + 1];
  flags["max_seq_length"] = 64;
  flags["learning_rate"] = 1e-3;
  flags["do_train"] = true;
  flags["bf16"] = false;
  flags["max_steps"] = 3;
  flags["save_strategy"] = "no";
  flags["resume_from_checkpoint"] = nullptr;
  flags["output_dir"] = "file";
  write("job.json", io::dump_json(flags, 2));
  const Outcome file = hearth("run_qa job.json");
  ASSERT_EQ(file.status, 0) << file.err;
  EXPECT_TRUE(text("file/model.safetensors") == model);

  ASSERT_EQ(hearth("run_qa odd/training_args.json").status, 1);  // odd is not empty
  fs::rename(folder() / "odd" / "training_args.json", folder() / "again.json");
  fs::remove_all(folder() / "odd");
  const Outcome again = hearth("run_qa again.json");
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_TRUE(text("odd/model.safetensors") == model);
}

TEST_F(RunQa, BitsDoNotDependOnTheNumberOfThreads) {
  const std::string flags = "--do_train --do_eval --max_steps 3 --per_device_train_batch_size 25 --save_strategy no ";
  ASSERT_EQ(run_qa(flags + "--output_dir one").status, 0);
  ASSERT_EQ(run_qa(flags + "--output_dir two --num_threads 2").status, 0);
  EXPECT_TRUE(same("one/model.safetensors", "two/model.safetensors"));
  EXPECT_TRUE(same("one/eval_nbest_predictions.json", "two/eval_nbest_predictions.json"));
}

TEST_F(RunQa, GoesOnFromTheLastCheckpoint) {
  const std::string flags = "--do_train --do_eval --num_train_epochs 2 --save_steps 4 --gradient_accumulation_steps 2 ";
  ASSERT_EQ(run_qa(flags + "--output_dir whole").status, 0);
  ASSERT_TRUE(fs::exists(folder() / "whole" / "checkpoint-4"));
  fs::create_directories(folder() / "cut");
  fs::copy(folder() / "whole" / "checkpoint-4", folder() / "cut" / "checkpoint-4", fs::copy_options::recursive);
  const Outcome outcome = run_qa(flags + "--output_dir cut");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "resuming from cut/checkpoint-4")) << outcome.out;
  EXPECT_TRUE(same("cut/model.safetensors", "whole/model.safetensors"));
  EXPECT_TRUE(same("cut/eval_nbest_predictions.json", "whole/eval_nbest_predictions.json"));
  EXPECT_TRUE(same("cut/checkpoint-8/optimizer.safetensors", "whole/checkpoint-8/optimizer.safetensors"));

  ASSERT_EQ(run_qa(flags + "--output_dir other --resume_from_checkpoint whole/checkpoint-4").status, 0);
  EXPECT_TRUE(same("other/model.safetensors", "whole/model.safetensors"));
  const Outcome anew = run_qa(flags + "--output_dir cut --overwrite_output_dir --max_steps 2");
  ASSERT_EQ(anew.status, 0) << anew.err;
  EXPECT_EQ(json("cut/trainer_state.json").at("global_step"), 2);
  EXPECT_FALSE(same("cut/model.safetensors", "whole/model.safetensors"));
}

TEST_F(RunQa, EndsWithTheBestModel) {
  const Outcome outcome = run_qa(
      "--do_train --eval_strategy steps --eval_steps 2 --save_steps 2 --max_steps 8 --load_best_model_at_end "
      "--metric_for_best_model f1 --save_total_limit 1 --output_dir out");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const io::Json state = json("out/trainer_state.json");
  double best = -1;
  std::int64_t best_step = 0;
  for (const io::Json& row : state.at("log_history"))
    if (row.contains("eval_f1") && row.at("eval_f1").get<double>() > best) {
      best = row.at("eval_f1").get<double>();
      best_step = row.at("step").get<std::int64_t>();
    }
  EXPECT_EQ(state.at("best_metric"), best);
  EXPECT_EQ(state.at("best_global_step"), best_step);
  EXPECT_EQ(json("out/eval_results.json").at("eval_f1"), best);  // --eval_strategy implies --do_eval
  EXPECT_TRUE(same("out/model.safetensors", "out/checkpoint-" + std::to_string(best_step) + "/model.safetensors"));
}

TEST_F(RunQa, PadsAsAskedFor) {
  for (const auto& [flag, line] :
       {std::pair{"True", "batches padded to 64 positions"}, {"False", "batches padded to their longest sequence"}}) {
    const Outcome outcome = run_qa(
        std::string("--do_train --max_steps 2 --per_device_train_batch_size 2 --save_strategy no --output_dir out") +
        flag + " --pad_to_max_length " + flag);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, line)) << outcome.out;
  }
  EXPECT_FALSE(same("outTrue/model.safetensors", "outFalse/model.safetensors"));
}

TEST_F(RunQa, TakesTheFirstSamples) {
  const Outcome outcome = run_qa(
      "--do_train --do_eval --do_predict --max_train_samples 9 --max_eval_samples 4 "
      "--max_predict_samples 2 --save_strategy no --num_train_epochs 1 --output_dir out");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json("out/train_results.json").at("train_samples"), 9);
  EXPECT_EQ(keys_of(json("out/eval_predictions.json")), std::vector<std::string>({"q0", "q1", "q2", "q3"}));
  EXPECT_EQ(keys_of(json("out/predict_predictions.json")), std::vector<std::string>({"q0", "q1"}));
  EXPECT_EQ(json("out/eval_results.json").at("eval_samples"), 4);
  EXPECT_EQ(json("out/predict_results.json").at("predict_samples"), 2);
}

TEST_F(RunQa, QuestionsAloneAreNotScored) {
  write("questions.json", R"({"data": [{"id": "a", "question": "Who?", "context": "Ada lives in Faro."}]})");
  for (const char* flag : {"", " --version_2_with_negative"}) {
    const Outcome outcome =
        run_qa(std::string("--do_predict --test_file questions.json --overwrite_output_dir --output_dir out") + flag);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "questions.json has no answers")) << outcome.out;
    EXPECT_EQ(keys_of(json("out/predict_results.json")),
              std::vector<std::string>({"predict_samples", "test_model_preparation_time", "test_runtime",
                                        "test_samples_per_second", "test_steps_per_second"}));
    EXPECT_EQ(keys_of(json("out/predict_predictions.json")), std::vector<std::string>({"a"}));
  }
}

TEST_F(RunQa, SaysWhatHasNoEffect) {
  write("job.json", R"({"ipex": true, "ddp_backend": "gloo", "label_smoothing_factor": 0.1, "do_eval": true,
                        "max_seq_length": 64, "doc_stride": 16, "output_dir": "out", "model_name_or_path": ")" +
                        start_model().string() + R"(", "validation_file": ")" + (kFixtures / "dev.json").string() +
                        "\"}");
  const Outcome outcome = hearth("run_qa job.json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"ipex is accepted and has no effect", "--ddp_backend gloo is not used",
                           "--label_smoothing_factor has no effect"})
    EXPECT_TRUE(contains(outcome.out, part)) << part << outcome.out;
}

TEST_F(RunQa, TrainsInTheFormatOfTheLauncher) {
  const std::string flags = job() + " --do_train --max_steps 1 --save_strategy no --output_dir ";
  ASSERT_EQ(hearth("launch --num_processes 1 --mixed_precision bf16 " + flags + "launched").status, 0);
  ASSERT_EQ(hearth(flags + "asked --bf16").status, 0);
  EXPECT_TRUE(same("launched/model.safetensors", "asked/model.safetensors"));
  EXPECT_EQ(json("launched/training_args.json").at("bf16"), true);
}

TEST_F(RunQa, WarnsOfEmulationInEvaluation) {
  const auto warnings = [&](const std::string& flags) {
    const Outcome outcome = run_qa(flags + " --max_isa avx2 --overwrite_output_dir --output_dir out");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    int count = 0;
    for (const std::string& line : lines_of(outcome.err)) count += contains(line, "is emulated");
    return count;
  };
  EXPECT_EQ(warnings("--do_eval"), 0);
  EXPECT_EQ(warnings("--do_eval --bf16_full_eval"), 1);
  EXPECT_EQ(warnings("--do_train --do_eval --bf16 --max_steps 1 --save_strategy no"), 1);
}

TEST_F(RunQa, KeepsFeaturesUntilSomethingChanges) {
  const std::string flags = "--do_eval --output_dir out";
  EXPECT_FALSE(contains(run_qa(flags).out, "from the cache"));
  const std::string predictions = text("out/eval_nbest_predictions.json");
  EXPECT_TRUE(contains(run_qa(flags).out, "from the cache"));
  EXPECT_TRUE(text("out/eval_nbest_predictions.json") == predictions);
  EXPECT_FALSE(contains(run_qa(flags + " --overwrite_cache").out, "from the cache"));
  EXPECT_FALSE(contains(run_qa(flags + " --max_seq_length 32 --doc_stride 4").out, "from the cache"));
  EXPECT_FALSE(contains(run_qa(flags + " --doc_stride 8").out, "from the cache"));
  EXPECT_FALSE(contains(run_qa(flags + " --max_eval_samples 3").out, "from the cache"));
  EXPECT_TRUE(contains(run_qa(flags).out, "from the cache"));
}

TEST_F(RunQa, FindsModelsOfTheHubByName) {
  const fs::path model = folder() / "hub" / "models--towns--tiny-bert";
  fs::create_directories(model / "refs");
  fs::create_directories(model / "snapshots");
  write("hub/models--towns--tiny-bert/refs/main", "abc123");
  fs::copy(start_model(), model / "snapshots" / "abc123");
  const std::string flags = " --model_name_or_path towns/tiny-bert --do_eval --output_dir out";
  EXPECT_EQ(run_qa(flags, "HF_HUB_CACHE=hub").status, 0);
  EXPECT_EQ(run_qa(flags, "HF_HOME=.").status, 0);
  EXPECT_EQ(run_qa(flags + " --cache_dir hub").status, 0);
  EXPECT_TRUE(contains(run_qa(flags + " --cache_dir hub --model_revision v2").error(), "revision v2"));
}

TEST_F(RunQa, OverridesTheConfig) {
  const Outcome outcome = run_qa(
      "--do_train --max_steps 1 --save_strategy no --output_dir out "
      "--config_overrides hidden_dropout_prob=0,layer_norm_eps=1e-5");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json("out/config.json").at("hidden_dropout_prob"), 0);
  EXPECT_EQ(json("out/config.json").at("layer_norm_eps"), 1e-5);
  EXPECT_EQ(json("out/config.json").at("attention_probs_dropout_prob"), 0.1);
}

}  // namespace
}  // namespace hearth
