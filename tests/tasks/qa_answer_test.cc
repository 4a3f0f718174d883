#include "hearth/io/json.h"
#include "hearth/tasks/question_answering/answer.h"
#include "tests/support.h"

namespace hearth::tasks {
namespace {

using Texts = std::vector<std::string>;

QaPrediction prediction(const std::string& text, const Texts& nbest) {
  QaPrediction result;
  result.text = text;
  for (const std::string& candidate : nbest)
    result.nbest.push_back({candidate, 0, 0, 0.5f, candidate.empty() ? 0 : 2, candidate.empty() ? 0 : 5});
  return result;
}

Texts texts(const std::vector<QaCandidate>& answers) {
  Texts result;
  for (const QaCandidate& answer : answers) result.push_back(answer.text);
  return result;
}

TEST(BestAnswers, BeginWithThePredictedOne) {
  EXPECT_EQ(texts(best_answers(prediction("a", {"a", "b", ""}), 2)), (Texts{"a", "b"}));
  EXPECT_EQ(texts(best_answers(prediction("", {"a", "b", ""}), 5)), (Texts{"", "a", "b"}));  // by the threshold
}

TEST(BestAnswers, WhereNothingCanBeAnAnswerThereIsNone) {
  QaPrediction none;
  none.text = "empty";
  none.nbest = {{"empty", 0, 0, 1}};
  EXPECT_EQ(texts(best_answers(none, 1)), Texts{""});
}

TEST(AnswersJson, HasThePipelinesKeys) {
  EXPECT_EQ(
      io::dump_json(answers_json("q?", best_answers(prediction("a", {"a", ""}), 2)), io::kOneLine),
      R"({"question": "q?", "score": 0.5, "start": 2, "end": 5, "answer": "a", "n_best": )"
      R"([{"score": 0.5, "start": 2, "end": 5, "answer": "a"}, {"score": 0.5, "start": 0, "end": 0, "answer": ""}]})");
}

using TrainedOptions = TemporaryFolder;

TEST_F(TrainedOptions, AreTheDefaultsWithoutAFile) {
  const AnswerOptions options = trained_options(folder_);
  EXPECT_EQ(options.max_seq_length, 384);
  EXPECT_EQ(options.doc_stride, 128);
  EXPECT_FALSE(options.postprocess.version_2_with_negative);
}

TEST_F(TrainedOptions, AreReadFromTheModelFolder) {
  write("training_args.json", R"({"max_seq_length": 64, "doc_stride": 16, "max_answer_length": 4, "n_best_size": 7,
                                  "version_2_with_negative": true, "null_score_diff_threshold": -0.5, "bf16": true})");
  const AnswerOptions options = trained_options(folder_);
  EXPECT_EQ(options.max_seq_length, 64);
  EXPECT_EQ(options.doc_stride, 16);
  EXPECT_EQ(options.postprocess.max_answer_length, 4);
  EXPECT_EQ(options.postprocess.n_best_size, 7);
  EXPECT_TRUE(options.postprocess.version_2_with_negative);
  EXPECT_EQ(options.postprocess.null_score_diff_threshold, -0.5f);
}

TEST_F(TrainedOptions, AWrongValueIsNamed) {
  const std::string file = write("training_args.json", R"({"n_best_size": -1})").string();
  EXPECT_EQ(error_of([&] { trained_options(folder_); }), file + ": n_best_size is -1, out of range");
  write("training_args.json", R"({"max_seq_length": "long"})");
  EXPECT_TRUE(contains(error_of([&] { trained_options(folder_); }), "max_seq_length"));
}

}  // namespace
}  // namespace hearth::tasks
