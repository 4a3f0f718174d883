// run_glue and run_classification as a user runs them, compared with the Trainer of transformers 4.57.6
// (tests/fixtures/text_classification): 12 steps without dropout, an evaluation after each.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/apps/program.h"

namespace hearth {
namespace {

const fs::path kTexts = fs::path(kFixturesFolder) / "text_classification";

struct Case {
  const char *name, *command, *model, *data, *flags, *predictions;
};

std::string files_of(const std::string& data) {
  const std::string ending = data == "moods" ? ".jsonl" : ".csv";
  std::string flags;
  for (const auto& [flag, split] : {std::pair("train", "train"), {"validation", "dev"}, {"test", "test"}})
    flags += fmt::format(" --{}_file {}", flag, (kTexts / fmt::format("{}_{}{}", data, split, ending)).string());
  return flags;
}

std::string command_of(const Case& run) {
  return fmt::format(
      "{} --model_name_or_path {}{} {} --do_train --do_eval --do_predict --output_dir out --max_seq_length 20 "
      "--per_device_train_batch_size 4 --per_device_eval_batch_size 4 --learning_rate 3e-3 --max_steps 12 "
      "--logging_steps 1 --eval_strategy steps --eval_steps 1 --save_strategy no --disable_tqdm True --num_threads 1",
      run.command, (kTexts / run.model).string(), files_of(run.data), run.flags);
}

// Names in `expected` that `ours` has with another value.
void expect_close(const io::Json& expected, const io::Json& ours, const std::string& where) {
  for (const auto& [key, value] : expected.items()) {
    ASSERT_TRUE(ours.contains(key)) << where << key;
    const double reference = value, error = std::abs(ours.at(key).get<double>() - reference);
    const double tolerance = key == "loss" ? 1.01e-4 : 1e-4 * std::abs(reference) + 1e-12;  // the loss is rounded
    EXPECT_LE(error, key == "grad_norm" ? 10 * tolerance : tolerance) << where << key;
  }
}

class TextClassificationGolden : public ProgramTest, public testing::WithParamInterface<Case> {};

TEST_P(TextClassificationGolden, TwelveSteps) {
  const io::Json expected = io::read_json(kTexts / "expected.json").at(GetParam().name);
  const Outcome outcome = hearth(command_of(GetParam()));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const io::Json ours = json("out/trainer_state.json").at("log_history");
  for (std::size_t row = 0; row < 24; ++row)
    expect_close(expected.at("history")[row], ours[row], fmt::format("row {}, ", row));
  expect_close(expected.at("evaluation"), json("out/eval_results.json"), "evaluation, ");
  std::string predictions = "index\tprediction\n";
  std::size_t index = 0;
  for (const io::Json& prediction : expected.at("predictions"))
    predictions += fmt::format("{}\t{}\n", index++, prediction.get<std::string>());
  EXPECT_EQ(text(fs::path("out") / GetParam().predictions), predictions);
  EXPECT_FALSE(fs::exists(folder() / "out/predict_results.json"));
}

constexpr const char* kMoods = "--text_column_names subject,body";
INSTANTIATE_TEST_SUITE_P(
    Runs, TextClassificationGolden,
    testing::Values(Case{"pairs", "run_glue", "model_pairs", "pairs", "", "predict_results_None.txt"},
                    Case{"balanced", "run_glue", "model_pairs", "pairs", "--class_weights balanced",
                         "predict_results_None.txt"},
                    Case{"scores", "run_classification", "model_scores", "scores", "", "predict_results.txt"},
                    Case{"moods", "run_classification", "model_moods", "moods", kMoods, "predict_results.txt"}),
    [](const auto& run) { return std::string(run.param.name); });

class TextClassificationProgram : public ProgramTest {
 protected:
  static std::string pairs(const std::string& flags) {
    return fmt::format(
        "run_glue --model_name_or_path {}{} --max_seq_length 20 --max_steps 2 --disable_tqdm True "
        "--num_threads 1 --output_dir out --do_train --do_eval {}",
        (kTexts / "model_pairs").string(), files_of("pairs"), flags);
  }
};

TEST_F(TextClassificationProgram, PaddingChangesNothingButSpeed) {
  ASSERT_EQ(hearth(pairs("")).status, 0);
  const double packed = json("out/eval_results.json").at("eval_loss");
  for (const char* padding : {"True", "False"}) {
    ASSERT_EQ(hearth(pairs(fmt::format("--overwrite_output_dir --pad_to_max_length {}", padding))).status, 0);
    EXPECT_NEAR(json("out/eval_results.json").at("eval_loss").get<double>(), packed, 1e-5) << padding;
  }
}

// The report follows the final evaluation, not those during training.
TEST_F(TextClassificationProgram, Report) {
  const Case run{"pairs", "run_glue", "model_pairs", "pairs", "", ""};
  const Outcome outcome = hearth(command_of(run));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const io::Json golden = io::read_json(kTexts / "expected.json").at("pairs"), ours = json("out/eval_report.json");
  EXPECT_EQ(ours.at("confusion_matrix"), golden.at("confusion_matrix"));
  EXPECT_EQ(ours.at("labels"), io::Json({"no", "perhaps", "yes"}));
  for (const auto& [name, scores] : golden.at("report").items()) {
    if (name == "accuracy") {
      EXPECT_DOUBLE_EQ(ours.at(name).get<double>(), scores.get<double>());
      continue;
    }
    const io::Json& row = ours.at("classes").contains(name) ? ours.at("classes").at(name) : ours.at(name);
    for (const auto& [key, value] : scores.items())
      EXPECT_NEAR(row.at(key).get<double>(), value.get<double>(), 1e-12) << name << key;
  }
  const std::string title = "***** eval report *****";
  const std::size_t at = outcome.out.find(title);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(outcome.out.find(title, at + 1), std::string::npos);
  EXPECT_TRUE(contains(outcome.out, "weighted avg"));
  EXPECT_TRUE(contains(outcome.out, "true \\ predicted"));
}

TEST_F(TextClassificationProgram, ConfigOfTheModel) {
  const std::string sst2 = "run_glue --task_name sst2 --model_name_or_path " + start_model().string() +
                           " --do_train --max_steps 1 --num_threads 1 --output_dir out --train_file t.tsv";
  write("t.tsv", "sentence\tlabel\ngood\t1\nbad\t0\n");
  ASSERT_EQ(hearth(sst2).status, 0);
  const io::Json config = json("out/config.json");
  EXPECT_EQ(config.at("id2label"), io::Json::parse(R"({"0": "negative", "1": "positive"})"));
  EXPECT_EQ(config.at("label2id"), io::Json::parse(R"({"negative": 0, "positive": 1})"));
  EXPECT_EQ(config.at("finetuning_task"), "sst2");
  EXPECT_EQ(config.at("problem_type"), "single_label_classification");
  EXPECT_EQ(config.at("architectures"), io::Json({"BertForSequenceClassification"}));
}

TEST_F(TextClassificationProgram, MnliMetricsAndPredictions) {
  const fs::path glue = fs::path(kFixturesFolder) / "glue";
  fs::copy(glue / "mnli_dev.tsv", folder() / "dev_matched.tsv");
  fs::copy(glue / "mnli_dev.tsv", folder() / "dev_mismatched.tsv");
  fs::copy(glue / "mnli_test.tsv", folder() / "test_matched.tsv");
  fs::copy(glue / "mnli_test.tsv", folder() / "test_mismatched.tsv");
  const Outcome outcome = hearth(
      "run_glue --task_name mnli --do_eval --do_predict --num_threads 1 --output_dir out "
      "--validation_file dev_matched.tsv --test_file test_matched.tsv --model_name_or_path " +
      start_model().string());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const io::Json results = json("out/eval_results.json");
  for (const char* key : {"eval_accuracy", "eval_loss", "eval_samples"}) {
    ASSERT_TRUE(results.contains(key)) << key;
    EXPECT_EQ(results.at(key), results.at(std::string(key) + "_mm")) << key;
  }
  EXPECT_EQ(text("out/predict_results_mnli.txt"), text("out/predict_results_mnli-mm.txt"));
  EXPECT_TRUE(json("out/eval_report.json").contains("mismatched"));
  EXPECT_TRUE(contains(outcome.out, "***** eval report, mismatched *****"));
}

TEST_F(TextClassificationProgram, EvaluationOfAFineTunedModel) {
  ASSERT_EQ(hearth(pairs("--max_steps 12")).status, 0);
  const io::Json after_training = json("out/eval_results.json");
  const Outcome outcome = hearth(
      "run_glue --model_name_or_path out --do_eval --max_seq_length 20 --num_threads 1 "
      "--output_dir again --validation_file " +
      (kTexts / "pairs_dev.csv").string());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json("again/eval_results.json").at("eval_loss"), after_training.at("eval_loss"));
  EXPECT_EQ(json("again/eval_results.json").at("eval_accuracy"), after_training.at("eval_accuracy"));
}

TEST_F(TextClassificationProgram, ErrorsComeBeforeTraining) {
  write("train.csv", "text,label\na,x\nb,x\n");
  const Outcome data = hearth("run_glue --do_train --train_file train.csv --output_dir out --model_name_or_path " +
                              start_model().string());
  EXPECT_EQ(data.status, 1);
  EXPECT_EQ(data.error(), "train.csv has only one label, 'x'; training needs records of at least two labels");
  EXPECT_FALSE(fs::exists(folder() / "out"));
  const Outcome flags = hearth(
      "run_classification --do_train --train_file train.csv --class_weights balanced "
      "--label_smoothing_factor 0.1 --model_name_or_path " +
      start_model().string());
  EXPECT_EQ(flags.status, 2);
  EXPECT_EQ(flags.error(), "--class_weights cannot be combined with --label_smoothing_factor; leave one of them out");
  const Outcome task = hearth("run_glue --task_name mprc --do_train --train_file train.csv --model_name_or_path x");
  EXPECT_EQ(task.status, 2);
  EXPECT_TRUE(contains(task.error(), "did you mean mrpc?"));
}

}  // namespace
}  // namespace hearth
