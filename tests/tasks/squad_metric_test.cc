#include "hearth/tasks/question_answering/squad_metric.h"

#include "hearth/io/json.h"
#include "tests/support.h"

namespace hearth::tasks {
namespace {

using io::Json;

struct Cases {
  std::vector<QaExample> examples;
  std::vector<QaPrediction> predictions;

  void add(const Json& item) {
    QaExample example{fmt::format("{}", examples.size()), "", std::make_shared<const std::string>(), "q", {}};
    for (const Json& answer : item["answers"]) example.answers.push_back({answer, 0});
    predictions.push_back({example.id, item["prediction"], {}, 0});
    examples.push_back(std::move(example));
  }
};

void expect_scores(const Metrics& scores, const Json& expected) {
  ASSERT_EQ(scores.size(), expected.size());
  auto other = scores.begin();
  for (const auto& [name, value] : expected.items()) {
    EXPECT_EQ(other->first, name);
    EXPECT_EQ(other->second.is_integer(), value.is_number_integer()) << name;
    EXPECT_DOUBLE_EQ(other->second.as_double(), value.get<double>()) << name;
    ++other;
  }
}

TEST(SquadMetric, NormalizesAsTheReference) {
  const Json file = io::read_json(fixture("qa/metrics.json"));
  for (const auto& [text, normalized] : file["normalized"].items())
    EXPECT_EQ(normalize_answer(text), normalized.get<std::string>()) << text;
}

TEST(SquadMetric, ScoresAsTheReference) {
  const Json file = io::read_json(fixture("qa/metrics.json"));
  Cases answered, all;
  for (const Json& item : file["cases"]) {
    all.add(item);
    if (!item["answers"].empty()) answered.add(item);
  }
  expect_scores(squad_metric(answered.examples, answered.predictions), file["v1_of_answered"]);
  expect_scores(squad_v2_metric(all.examples, all.predictions), file["v2"]);
}

TEST(SquadMetric, QuestionsWithoutAnAnswer) {
  Cases cases;
  cases.add({{"prediction", "x"}, {"answers", {"x"}}});
  cases.add({{"prediction", ""}, {"answers", Json::array()}});
  const LogCapture log;
  EXPECT_EQ(squad_metric(cases.examples, cases.predictions).at("exact_match"), 50.0);
  ASSERT_EQ(log.warnings.size(), 1u);
  EXPECT_TRUE(contains(log.warnings[0], "1 of 2 questions have no answer"));
}

TEST(SquadMetric, NeedsAPredictionForEachQuestion) {
  Cases cases;
  EXPECT_THROW(squad_metric(cases.examples, cases.predictions), Error);
  cases.add({{"prediction", "x"}, {"answers", {"x"}}});
  EXPECT_THROW(squad_v2_metric(cases.examples, {}), Error);
}

}  // namespace
}  // namespace hearth::tasks
