#include <cmath>
#include <limits>

#include "hearth/io/json.h"
#include "hearth/io/safetensors.h"
#include "hearth/tasks/question_answering/postprocess.h"
#include "hearth/tasks/question_answering/preprocess.h"
#include "tests/support.h"

namespace hearth::tasks {
namespace {

using io::Json;
using tokenizer::Offset;
using QaPostprocessFiles = TemporaryFolder;

constexpr Offset kNone = QaFeatures::kNoOffset;

// "äb cd ef" in one window of five tokens: [CLS] and the three words, then [SEP].
struct OneWindow {
  std::vector<QaExample> examples{{"x", "", std::make_shared<const std::string>("äb cd ef"), "q", {}}};
  QaFeatures features;

  OneWindow() {
    features.starts = {0, 5};
    features.ids = {2, 10, 11, 12, 3};
    features.type_ids = {0, 1, 1, 1, 1};
    features.examples = {0};
    features.offsets = {kNone, {0, 2}, {3, 5}, {6, 8}, kNone};
  }

  QaPrediction predict(std::vector<float> start, std::vector<float> end,
                       const QaPostprocessOptions& options = {}) const {
    const QaLogits logits{start, end};
    return postprocess_qa_predictions(examples, features, std::span(&logits, 1), options)[0];
  }
};

std::vector<std::string> texts(const QaPrediction& prediction) {
  std::vector<std::string> result;
  for (const QaCandidate& candidate : prediction.nbest) result.push_back(candidate.text);
  return result;
}

using Texts = std::vector<std::string>;

TEST(QaPostprocess, TakesTheBestSpans) {
  const QaPrediction best = OneWindow().predict({9, 3, 2, 1, 9}, {9, 1, 2, 4, 9});
  EXPECT_EQ(best.text, "äb cd ef");
  EXPECT_EQ(texts(best), (Texts{"äb cd ef", "cd ef", "äb cd", "ef", "äb", "cd"}));
  EXPECT_EQ(best.nbest[0].start_logit, 3);
  EXPECT_EQ(best.nbest[0].end_logit, 4);
  double sum = 0;
  for (const QaCandidate& candidate : best.nbest) sum += candidate.probability;
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_NEAR(best.nbest[0].probability / best.nbest[1].probability, std::exp(1), 1e-5);
}

TEST(QaPostprocess, LimitsLengthAndNumber) {
  const OneWindow window;
  EXPECT_EQ(texts(window.predict({9, 3, 2, 1, 9}, {9, 1, 2, 4, 9}, {.max_answer_length = 1})),
            (Texts{"ef", "äb", "cd"}));
  EXPECT_EQ(texts(window.predict({0, 3, 2, 1, 0}, {0, 1, 2, 4, 0}, {.n_best_size = 2})), (Texts{"äb cd ef", "cd ef"}));
  // Padding takes places among the best.
  EXPECT_EQ(texts(window.predict({0, 3, 2, 1, 0, 9}, {0, 1, 2, 4, 0, 9}, {.n_best_size = 2})), (Texts{"äb cd ef"}));
}

TEST(QaPostprocess, TiesGoToTheLaterToken) {
  EXPECT_EQ(texts(OneWindow().predict({0, 1, 1, 1, 0}, {0, 1, 1, 1, 0}, {.n_best_size = 1})), Texts{"ef"});
}

TEST(QaPostprocess, WithoutAnyAnswer) {
  const OneWindow window;
  const QaPrediction none = window.predict({9, 0, 0, 0, 8}, {9, 0, 0, 0, 8}, {.n_best_size = 2});
  EXPECT_EQ(none.text, "empty");
  EXPECT_EQ(texts(none), Texts{"empty"});
  EXPECT_EQ(none.nbest[0].probability, 1);
  const QaPrediction null =
      window.predict({9, 0, 0, 0, 8}, {9, 0, 0, 0, 8}, {.version_2_with_negative = true, .n_best_size = 2});
  EXPECT_EQ(texts(null), (Texts{"empty", ""}));
  EXPECT_EQ(null.null_odds, 18);
  EXPECT_EQ(null.text, "");
}

TEST(QaPostprocess, NoAnswerByThreshold) {
  const OneWindow window;
  const auto with_threshold = [&](float threshold) {
    return window.predict({2, 3, 0, 0, 0}, {2, 0, 0, 0, 0},
                          {.version_2_with_negative = true, .null_score_diff_threshold = threshold});
  };
  EXPECT_EQ(with_threshold(0).null_odds, 1);
  EXPECT_EQ(with_threshold(0).text, "");
  EXPECT_EQ(with_threshold(1).text, "äb cd ef");
  const QaPrediction pushed_out =
      window.predict({-9, 3, 0, 0, 0}, {-9, 0, 1, 2, 0}, {.version_2_with_negative = true, .n_best_size = 2});
  EXPECT_EQ(texts(pushed_out), (Texts{"äb cd ef", "äb cd", ""}));
}

TEST(QaPostprocess, TheLowestNullScoreOfTheWindowsCounts) {
  const OneWindow window;
  QaFeatures two = window.features;
  two.append(window.features);
  const std::vector<float> high{5, 1, 0, 0, 0}, low{-5, 0, 1, 0, 0};
  const std::vector<QaLogits> logits{{high, high}, {low, low}};
  const auto prediction =
      postprocess_qa_predictions(window.examples, two, logits, {.version_2_with_negative = true})[0];
  EXPECT_EQ(prediction.null_odds, -12);
  EXPECT_EQ(prediction.text, "äb");
}

TEST(QaPostprocess, ExamplesWithoutFeatures) {
  OneWindow window;
  window.examples.push_back(window.examples[0]);
  window.examples[1].id = "y";
  const std::vector<float> scores(5);
  const QaLogits logits{scores, scores};
  for (const bool v2 : {false, true}) {
    const auto predictions = postprocess_qa_predictions(window.examples, window.features, std::span(&logits, 1),
                                                        {.version_2_with_negative = v2});
    ASSERT_EQ(predictions.size(), 2u);
    EXPECT_EQ(predictions[1].id, "y");
    EXPECT_EQ(predictions[1].text, "empty");
  }
}

TEST(QaPostprocess, NotANumberDoesNoHarm) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const OneWindow window;
  EXPECT_FALSE(window.predict({nan, nan, nan, nan, nan}, {nan, nan, nan, nan, nan}).nbest.empty());
  EXPECT_FALSE(
      window.predict({inf, -inf, nan, 0, 1}, {0, inf, nan, -inf, 1}, {.version_2_with_negative = true}).nbest.empty());
}

TEST(QaPostprocess, LogitsMustFitTheFeatures) {
  const OneWindow window;
  EXPECT_THROW(window.predict({1, 2}, {1, 2}), Error);
  EXPECT_THROW(window.predict({1, 2, 3, 4, 5}, {1, 2, 3, 4, 5, 6}), Error);
  EXPECT_THROW(postprocess_qa_predictions(window.examples, window.features, {}, {}), Error);
}

TEST_F(QaPostprocessFiles, WritesTheReferencesFiles) {
  std::vector<QaPrediction> predictions{{"b", "ä", {{"ä", 1.5f, 0.1f, 1.0f}}, -2.0f}, {"a", "", {}, 0.25f}};
  predictions.push_back({"b", "last", {}, 3.0f});
  write_qa_predictions(predictions, folder_, "eval", {.version_2_with_negative = true});
  EXPECT_EQ(io::read_file(folder_ / "eval_predictions.json"), "{\n    \"b\": \"last\",\n    \"a\": \"\"\n}\n");
  EXPECT_EQ(io::read_file(folder_ / "eval_null_odds.json"), "{\n    \"b\": 3.0,\n    \"a\": 0.25\n}\n");
  predictions.pop_back();
  write_qa_predictions(predictions, folder_, "predict", {});
  EXPECT_EQ(io::read_file(folder_ / "predict_nbest_predictions.json"),
            "{\n    \"b\": [\n        {\n            \"start_logit\": 1.5,\n"
            "            \"end_logit\": 0.10000000149011612,\n            \"text\": \"\\u00e4\",\n"
            "            \"probability\": 1.0\n        }\n    ],\n    \"a\": []\n}\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "predict_null_odds.json"));
}

TEST(QaPostprocess, Goldens) {
  if (goldens2().empty()) GTEST_SKIP() << "HEARTH_GOLDENS2_DIR is not set";
  const LogCapture log;
  const Json all = io::read_json(goldens2() / "qa" / "all.json");
  const Json golden = io::read_json(goldens2() / "qa" / "postprocess.json");
  const auto tokenizer = tokenizer::load_vocabulary(goldens2() / all["vocab"].get<std::string>(), true);
  std::vector<QaExample> examples;
  for (const Json& record : golden["examples"]) {
    examples.push_back(
        {record["id"], "", std::make_shared<const std::string>(record["context"]), record["question"], {}});
  }
  const QaFeatures features = prepare_validation_features(
      examples, *tokenizer, {.max_seq_length = golden["max_seq_length"], .doc_stride = golden["doc_stride"]});
  const auto file = io::Safetensors::open(goldens2() / "qa" / "logits.safetensors");
  const Tensor start = file.tensor("start_logits"), end = file.tensor("end_logits");
  ASSERT_EQ(start.rows(), features.size());
  const auto row = [](const Tensor& tensor, std::int64_t i) {
    return std::span<const float>(tensor.data<float>() + i * tensor.row_size(),
                                  static_cast<std::size_t>(tensor.row_size()));
  };
  std::vector<QaLogits> logits;
  for (std::int64_t i = 0; i < features.size(); ++i) logits.push_back({row(start, i), row(end, i)});

  for (const bool v2 : {false, true}) {
    const Json& expected = golden[v2 ? "v2" : "v1"];
    const auto predictions = postprocess_qa_predictions(examples, features, logits, {.version_2_with_negative = v2});
    for (const QaPrediction& prediction : predictions) {
      SCOPED_TRACE(prediction.id);
      EXPECT_EQ(prediction.text, expected["predictions"][prediction.id].get<std::string>());
      const Json& nbest = expected["nbest"][prediction.id];
      ASSERT_EQ(prediction.nbest.size(), nbest.size());
      for (std::size_t i = 0; i < nbest.size(); ++i) {
        EXPECT_EQ(prediction.nbest[i].text, nbest[i]["text"]);
        EXPECT_EQ(prediction.nbest[i].start_logit, nbest[i]["start_logit"]);
        EXPECT_EQ(prediction.nbest[i].end_logit, nbest[i]["end_logit"]);
        EXPECT_NEAR(prediction.nbest[i].probability, nbest[i]["probability"], 1e-5);
      }
      EXPECT_NEAR(prediction.null_odds, v2 ? expected["null_odds"][prediction.id].get<float>() : 0.0f, 1e-5);
    }
  }
}

}  // namespace
}  // namespace hearth::tasks
