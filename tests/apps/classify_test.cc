// hearth classify against transformers' text-classification pipeline (tests/fixtures/text_classification).
#include <gtest/gtest.h>

#include "tests/apps/program.h"

namespace hearth {
namespace {

const fs::path kTexts = fs::path(kFixturesFolder) / "text_classification";

class ClassifyTest : public ProgramTest {
 protected:
  Outcome classify(const std::string& model, const std::string& flags, const std::string& before = "") const {
    return hearth("classify --model " + (kTexts / ("model_" + model)).string() + " " + flags, before);
  }
  static io::Json pipeline(const std::string& name) {
    return io::read_json(kTexts / "expected.json").at(name).at("pipeline");
  }
  // The lines of the output have the scores of the pipeline's texts.
  static void expect_pipeline(const Outcome& outcome, const std::string& name) {
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const std::vector<std::string> lines = lines_of(outcome.out);
    const io::Json expected = pipeline(name);
    ASSERT_EQ(lines.size(), expected.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const io::Json ours = io::Json::parse(lines[i]), scores = expected[i].at("scores");
      ASSERT_EQ(ours.at("scores").size(), scores.size());
      EXPECT_EQ(ours.at("label"), scores[0].at("label"));
      EXPECT_EQ(ours.at("score"), ours.at("scores")[0].at("score"));
      for (std::size_t label = 0; label < scores.size(); ++label) {
        EXPECT_EQ(ours.at("scores")[label].at("label"), scores[label].at("label"));
        EXPECT_NEAR(ours.at("scores")[label].at("score").get<double>(), scores[label].at("score").get<double>(), 1e-5);
      }
    }
  }
};

TEST_F(ClassifyTest, FilesOfRecords) {
  expect_pipeline(classify("pairs", "--top_k 0 --file " + (kTexts / "pairs_test.csv").string()), "pairs");
  expect_pipeline(classify("scores", "--top_k 0 --batch_size 2 --file " + (kTexts / "scores_test.csv").string()),
                  "scores");
  expect_pipeline(
      classify("moods", "--top_k 0 --text_column_names subject,body --file " + (kTexts / "moods_test.jsonl").string()),
      "moods");
}

TEST_F(ClassifyTest, LinesOfTextFilesAndOfStandardInput) {
  std::string lines;
  for (const io::Json& item : pipeline("pairs"))
    lines += item.at("input").at("text").get<std::string>() + "\t" +
             item.at("input").at("text_pair").get<std::string>() + "\n";
  write("lines.txt", lines);
  expect_pipeline(classify("pairs", "--top_k 0 --file lines.txt"), "pairs");
  expect_pipeline(classify("pairs", "--top_k 0", "cat lines.txt |"), "pairs");
}

TEST_F(ClassifyTest, ALineThatIsNotUtf8EndsAPipe) {
  const Outcome odd = classify("scores", "", "printf 'a\\nthe \\377\\nb\\n' |");
  EXPECT_EQ(odd.status, 1);
  EXPECT_EQ(odd.error(), "line 2 of standard input: the line is not UTF-8 text; convert it first");
  EXPECT_EQ(lines_of(odd.out).size(), 1u);
}

TEST_F(ClassifyTest, OneText) {
  const io::Json item = pipeline("pairs")[0];
  const Outcome outcome =
      classify("pairs", fmt::format("--text '{}' --text_pair '{}'", item.at("input").at("text").get<std::string>(),
                                    item.at("input").at("text_pair").get<std::string>()));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const io::Json ours = io::Json::parse(outcome.out);
  EXPECT_EQ(keys_of(ours), (std::vector<std::string>{"label", "score"}));
  EXPECT_EQ(ours.at("label"), item.at("scores")[0].at("label"));
  EXPECT_EQ(io::Json::parse(classify("pairs", "--text a --top_k 2").out).at("scores").size(), 2u);
}

TEST_F(ClassifyTest, LabelsThatHold) {
  const io::Json ours = io::Json::parse(classify("moods", "--text a --top_k 0").out);
  std::vector<std::string> holding;
  for (const io::Json& score : ours.at("scores"))
    if (score.at("score").get<double>() > 0.5) holding.push_back(score.at("label"));
  EXPECT_EQ(ours.at("labels"), io::Json(holding));
}

TEST_F(ClassifyTest, ShortPrecisionAndShortInputs) {
  const auto score = [&](const std::string& flags) {
    const Outcome outcome = classify("scores", "--text 'the ferry sold the bell and the mail.' " + flags);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return io::Json::parse(outcome.out).at("score").get<double>();
  };
  EXPECT_NEAR(score("--bf16"), score(""), 0.05);
  EXPECT_EQ(score("--dtype bf16"), score("--bf16"));
  EXPECT_NEAR(score("--fp16"), score(""), 0.02);
  EXPECT_NE(score("--max_seq_length 4"), score(""));
}

TEST_F(ClassifyTest, TrainedLength) {
  fs::copy(kTexts / "model_scores", folder() / "model");
  write("model/training_args.json", "{\"max_seq_length\": 4}");
  const auto score = [&](const std::string& flags) {
    return io::Json::parse(hearth("classify --model model --text 'the ferry sold the bell' " + flags).out)
        .at("score")
        .get<double>();
  };
  EXPECT_EQ(score(""), score("--max_seq_length 4"));
  EXPECT_NE(score(""), score("--max_seq_length 5"));
}

TEST_F(ClassifyTest, WrongUse) {
  EXPECT_EQ(classify("pairs", "--text a --file b.txt").error(), "give either --text or --file");
  const std::string odd = "\"$(printf '\\377')\"";
  EXPECT_EQ(classify("pairs", "--text " + odd).error(), "--text is not UTF-8 text; convert it first");
  EXPECT_EQ(classify("pairs", "--text a --text_pair " + odd).error(),
            "--text_pair is not UTF-8 text; convert it first");
  EXPECT_TRUE(contains(classify("pairs", "--text_pair a").error(), "--text_pair needs --text"));
  EXPECT_TRUE(contains(classify("pairs", "--text a --bf16 --fp16").error(), "give one of --dtype, --bf16 and --fp16"));
  EXPECT_TRUE(contains(classify("pairs", "--file none.txt").error(), "none.txt"));
  write("empty.txt", "");
  EXPECT_EQ(classify("pairs", "--file empty.txt").error(), "empty.txt is empty; write one text per line");
  write("mixed.txt", "a\tb\nc\n");
  EXPECT_TRUE(contains(classify("pairs", "--file mixed.txt").error(), "mixed.txt: 1 of 2 lines have a tab"));
  EXPECT_TRUE(contains(hearth("classify --text a --model " + start_model().string()).error(),
                       "this model has no head for text classification; train one with hearth run_glue"));
}

}  // namespace
}  // namespace hearth
