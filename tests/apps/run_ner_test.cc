// hearth run_ner, on the sentences of tests/fixtures/ner.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tests/apps/program.h"

namespace hearth {
namespace {

const fs::path kSentences = fixture("ner"), kGolden = kSentences / "golden";

class RunNer : public ProgramTest {
 protected:
  // The model of the golden files, trained for a few steps unless the flags say otherwise.
  Outcome run_ner(const std::string& flags, const std::string& before = "") const {
    return hearth("run_ner --output_dir out --disable_tqdm True --num_threads 1 --model_name_or_path " +
                      (kGolden / "model").string() + " " + flags,
                  before);
  }
  static std::string files() {
    return " --train_file " + (kSentences / "train.conll").string() + " --validation_file " +
           (kSentences / "dev.conll").string() + " --test_file " + (kSentences / "test.conll").string() + " ";
  }
  // A run on a file of this test, with a new head.
  static std::string job_on(const std::string& train_file) {
    return "run_ner --output_dir out --disable_tqdm True --num_threads 1 --ignore_mismatched_sizes "
           "--model_name_or_path " +
           (kGolden / "model").string() + " --train_file " + train_file + " ";
  }
  void succeeds(const Outcome& outcome) const { ASSERT_EQ(outcome.status, 0) << outcome.err; }
};

// ---- Against run_ner.py ----

class RunNerReference : public RunNer, public testing::WithParamInterface<std::tuple<const char*, const char*>> {};

TEST_P(RunNerReference, LossesMetricsAndPredictionsAreTheSame) {
  const auto& [run, padding] = GetParam();
  const io::Json golden = io::read_json(kGolden / (std::string(run) + ".json"));
  succeeds(run_ner(golden.at("flags").get<std::string>() + files() + padding +
                   " --do_train --do_eval --do_predict --save_strategy no"));

  const std::vector<double> losses = golden.at("losses").get<std::vector<double>>();
  const io::Json history = json("out/trainer_state.json").at("log_history");
  double largest = 0;
  for (std::size_t step = 0; step < losses.size(); ++step)
    largest = std::max(largest, std::abs(history[step].at("loss").get<double>() - losses[step]) / losses[step]);
  std::printf("%s: largest relative error of the loss %.1e\n", run, largest);
  EXPECT_LE(largest, 1e-4);  // the log rounds the loss to four decimals

  for (const char* split : {"eval", "predict"}) {
    const io::Json results = json("out/" + std::string(split) + "_results.json");
    for (const auto& [name, value] : golden.at(split).items()) {
      if (name.ends_with("loss"))
        EXPECT_NEAR(results.at(name).get<double>(), value.get<double>(), 1e-5) << name;
      else
        EXPECT_EQ(results.at(name), value) << name;
    }
  }
  EXPECT_EQ(lines_of(text("out/predictions.txt")), golden.at("predictions").get<std::vector<std::string>>());
  EXPECT_EQ(json("out/config.json").at("id2label"), golden.at("id2label"));
  EXPECT_EQ(json("out/config.json").at("finetuning_task"), golden.at("finetuning_task"));
}

INSTANTIATE_TEST_SUITE_P(Runs, RunNerReference,
                         testing::Combine(testing::Values("first_tokens", "all_tokens"),
                                          testing::Values("", "--pad_to_max_length False",
                                                          "--pad_to_max_length True")));

// ---- Training ----

TEST_F(RunNer, LearnsTheSentencesFromScratch) {
  succeeds(
      hearth("train_tokenizer --vocab_size 300 --output_dir tokenizer --files " + (kSentences / "text.txt").string()));
  succeeds(
      hearth("init_model --tokenizer tokenizer --output_dir model --config " + (kFixtures / "config.json").string()));
  const Outcome outcome = hearth(
      "run_ner --model_name_or_path model --output_dir out --do_train --do_eval --do_predict --learning_rate 3e-3 "
      "--num_train_epochs 30 --per_device_train_batch_size 16 --disable_tqdm True --num_threads 1 --save_strategy no" +
      files());
  succeeds(outcome);
  EXPECT_GT(json("out/eval_results.json").at("eval_f1").get<double>(), 0.9);
  EXPECT_GT(json("out/predict_results.json").at("predict_f1").get<double>(), 0.9);
  EXPECT_TRUE(contains(outcome.out, "***** entities by type *****\n"));
  EXPECT_TRUE(contains(outcome.out, "\n  LOC "));
  EXPECT_TRUE(contains(outcome.out + outcome.err, "hearth tag --model out --aggregation_strategy first --text"));
  const std::string card = text("out/README.md");
  EXPECT_TRUE(contains(card, "pipeline_tag: token-classification"));
  EXPECT_TRUE(contains(card, "type: f1"));

  // The trained model has the labels: no training file is needed any more.
  const io::Json before = json("out/eval_results.json");
  succeeds(
      hearth("run_ner --model_name_or_path out --output_dir again --do_eval --disable_tqdm True --num_threads 1"
             " --validation_file " +
             (kSentences / "dev.conll").string()));
  EXPECT_EQ(json("again/eval_results.json").at("eval_f1"), before.at("eval_f1"));
}

TEST_F(RunNer, TheMetricsBeginWithTheLoss) {
  const Outcome outcome = run_ner("--do_train --do_eval --max_steps 2 --eval_strategy steps --eval_steps 2" + files());
  succeeds(outcome);
  EXPECT_TRUE(contains(outcome.out + outcome.err, "{\"eval_loss\": "));
  const std::vector<std::string> keys = keys_of(json("out/trainer_state.json").at("log_history")[0]);
  ASSERT_GE(keys.size(), 5u);
  const std::vector<std::string> wanted{"eval_loss", "eval_precision", "eval_recall", "eval_f1", "eval_accuracy"};
  for (const std::string& name : wanted) EXPECT_NE(std::ranges::find(keys, name), keys.end()) << name;
}

TEST_F(RunNer, TheBestModelMayBeThatOfOneType) {
  const std::string flags =
      "--do_train --do_eval --max_steps 2 --return_entity_level_metrics --eval_strategy steps --eval_steps 1 "
      "--save_steps 1 --load_best_model_at_end --metric_for_best_model ";
  succeeds(run_ner(flags + "PER_f1" + files()));
  EXPECT_TRUE(json("out/trainer_state.json").contains("best_metric"));
  EXPECT_TRUE(contains(run_ner(flags + "PERS_f1 --overwrite_output_dir" + files()).error(), "did you mean"));
  EXPECT_TRUE(contains(run_ner("--do_train --do_eval --metric_for_best_model f2" + files()).error(), "f1, accuracy"));
}

TEST_F(RunNer, WordsWithoutTagsArePredicted) {
  write("test.jsonl", "{\"tokens\": [\"Ada\", \"slept\", \".\"]}\n{\"tokens\": []}\n{\"tokens\": [\"Cork\"]}\n");
  write("test.conll", "Ada\nslept\n\nCork\n");
  const std::string flags =
      "--do_train --do_predict --max_steps 1 --overwrite_output_dir --label_all_tokens --train_file " +
      (kSentences / "train.conll").string() + " --test_file ";
  succeeds(run_ner(flags + "test.jsonl"));
  const auto tags_in = [&](std::size_t line) {
    const std::string row = lines_of(text("out/predictions.txt")).at(line);
    return row.empty() ? 0 : std::ranges::count(row, ' ') + 1;
  };
  ASSERT_EQ(lines_of(text("out/predictions.txt")).size(), 3u);
  EXPECT_EQ(tags_in(0), 3);
  EXPECT_EQ(tags_in(1), 0);
  EXPECT_EQ(tags_in(2), 1);
  const io::Json results = json("out/predict_results.json");
  EXPECT_TRUE(results.contains("predict_runtime"));
  for (const char* name : {"predict_f1", "predict_loss", "predict_samples"})
    EXPECT_FALSE(results.contains(name)) << name;
  succeeds(run_ner(flags + "test.conll"));
  EXPECT_EQ(lines_of(text("out/predictions.txt")).size(), 2u);
}

TEST_F(RunNer, TagsMayBeNumbers) {
  write("f.jsonl",
        "{\"tokens\": [\"Ada\", \"slept\"], \"ner_tags\": [1, 0]}\n{\"tokens\": [\"Bo\"], \"ner_tags\": [2]}\n");
  const Outcome outcome = hearth(job_on("f.jsonl") + "--do_train --max_steps 1");
  succeeds(outcome);
  EXPECT_TRUE(contains(outcome.err, "the tags are numbers without names"));
  EXPECT_EQ(json("out/config.json").at("id2label").dump(), R"({"0":"LABEL_0","1":"LABEL_1","2":"LABEL_2"})");
}

TEST_F(RunNer, LostWordsAreCounted) {
  write("f.conll", "Ada B\nslept O\n\n\xE2\x80\x8B O\nhere O\n");
  const Outcome outcome = hearth(job_on("f.conll") + "--do_train --max_steps 1 --max_seq_length 4");
  succeeds(outcome);
  EXPECT_TRUE(contains(outcome.err, "beyond max_seq_length 4"));
  EXPECT_TRUE(contains(outcome.err, "1 words have no tokens"));
}

TEST_F(RunNer, WrongInputIsOneSentence) {
  const std::string good = "{\"tokens\": [\"Ada\"], \"ner_tags\": [\"O\"]}\n";
  write("good.jsonl", good);
  write("other.jsonl", "{\"tokens\": [\"Ada\"], \"ner_tags\": [\"B-PER\"]}\n");
  write("numbers.jsonl", "{\"tokens\": [\"Ada\"], \"ner_tags\": [0]}\n");
  write("untagged.jsonl", "{\"tokens\": [\"Ada\"]}\n");
  write("empty.jsonl", "");
  write("spaces.jsonl", "{\"tokens\": [\" \"], \"ner_tags\": [\"O\"]}\n");
  const auto error = [&](const std::string& train, const std::string& dev, const std::string& flags = "") {
    return hearth(job_on(train) + "--validation_file " + dev + " --do_train --do_eval --max_steps 1 " + flags).error();
  };
  EXPECT_TRUE(contains(error("good.jsonl", "other.jsonl"), "other.jsonl: record 1 has the label 'B-PER'"));
  EXPECT_TRUE(contains(error("good.jsonl", "numbers.jsonl"), "numbers as tags"));
  EXPECT_TRUE(contains(error("untagged.jsonl", "good.jsonl"), "--label_column_name"));
  EXPECT_TRUE(contains(error("good.jsonl", "untagged.jsonl"), "untagged.jsonl has no column of tags"));
  EXPECT_TRUE(contains(error("empty.jsonl", "good.jsonl"), "empty.jsonl"));
  EXPECT_TRUE(contains(error("spaces.jsonl", "good.jsonl"), "not one of its words has a token"));
  EXPECT_TRUE(contains(error("none.jsonl", "good.jsonl"), "none.jsonl"));
  EXPECT_TRUE(contains(error("good.jsonl", "good.jsonl", "--max_seq_length 2"), "leaves no room for words"));
  EXPECT_TRUE(contains(error("good.jsonl", "good.jsonl", "--max_seq_length 500"), "positions"));
  EXPECT_TRUE(contains(error("good.jsonl", "good.jsonl", "--dataset_name a/b/c"), "a/b/c is neither a folder nor"));
  EXPECT_FALSE(fs::exists(folder() / "out"));
}

TEST_F(RunNer, ATokenizerOfAnotherModelIsRefused) {
  std::string vocabulary;
  for (const char* token : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) vocabulary += std::string(token) + "\n";
  for (int i = 0; i < 2000; ++i) vocabulary += "w" + std::to_string(i) + "\n";
  fs::create_directory(folder() / "other");
  write("other/vocab.txt", vocabulary);
  write("other/config.json", io::read_file(kGolden / "model/config.json"));
  write("f.conll", "w1999 O\n");
  const Outcome outcome = hearth(job_on("f.conll") + "--do_train --tokenizer_name other");
  EXPECT_TRUE(contains(outcome.error(), "is not this model's tokenizer"));
}

}  // namespace
}  // namespace hearth
