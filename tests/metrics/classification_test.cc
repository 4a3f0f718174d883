#include "hearth/metrics/classification.h"

#include "hearth/metrics/confusion_matrix.h"
#include "hearth/metrics/report.h"
#include "tests/metrics/expected_scores.h"

namespace hearth::metrics {
namespace {

using io::Json;
using Numbers = std::vector<std::int64_t>;

class Classification : public testing::Test {
 protected:
  const Json file_ = io::read_json(fixture("metrics/classification.json"));
};

void expect_accuracy_and_correlation(const Json& item) {
  const Numbers truth = item["truth"], predicted = item["predicted"];
  EXPECT_EQ(accuracy(truth, predicted), item["accuracy"].get<double>());
  EXPECT_EQ(matthews_correlation(truth, predicted), item["matthews"].get<double>());
}

TEST_F(Classification, AccuracyAndCorrelationAsScikitLearn) {
  for_each_case(file_["multi_class"], 40, expect_accuracy_and_correlation);
  for_each_case(file_["foreign"], 10, expect_accuracy_and_correlation);
}

TEST_F(Classification, BinaryScoresAsScikitLearn) {
  for_each_case(file_["binary"], 35, [](const Json& item) {
    expect_accuracy_and_correlation(item);
    const Numbers truth = item["truth"], predicted = item["predicted"];
    const Scores scores = binary_scores(truth, predicted);
    expect_scores(scores, item["scores"]);
    EXPECT_EQ(scores.support, std::count(truth.begin(), truth.end(), 1));
  });
}

TEST_F(Classification, ConfusionMatrixAndReportAsScikitLearn) {
  for_each_case(file_["multi_class"], 40, [](const Json& item) {
    const Numbers truth = item["truth"], predicted = item["predicted"];
    const std::vector<std::string> names = item["names"];
    const ConfusionMatrix matrix(truth, predicted, names.size());
    if (const Json& confusion = item["confusion"]; !confusion.is_null()) {
      for (std::size_t t = 0; t < names.size(); ++t)
        for (std::size_t p = 0; p < names.size(); ++p) EXPECT_EQ(matrix.at(t, p), confusion[t][p].get<std::int64_t>());
    }
    const Report report = classification_report(matrix, names);
    EXPECT_EQ(report.accuracy, item["accuracy"].get<double>());
    expect_averages(report.averages, item);
    ASSERT_EQ(report.classes.size(), item["classes"].size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(report.classes[i].name, names[i]);
      expect_scores(report.classes[i].scores, item["classes"][i]);
    }
    EXPECT_EQ(report_text(report), item["report"].get<std::string>());
  });
}

TEST(ClassificationErrors, NameTheNumbers) {
  const Numbers two{0, 1}, three{0, 1, 2}, none, negative{0, -1};
  EXPECT_EQ(error_of([&] { accuracy(two, three); }), "there are 3 predicted labels for 2 examples");
  EXPECT_EQ(error_of([&] { binary_scores(none, none); }), "there are 0 predicted labels for 0 examples");
  EXPECT_EQ(error_of([&] { matthews_correlation(three, two); }), "there are 2 predicted labels for 3 examples");
  EXPECT_EQ(error_of([&] { ConfusionMatrix(three, three, 2); }),
            "the label 2 is not one of the 2 classes of the confusion matrix");
  EXPECT_EQ(error_of([&] { ConfusionMatrix(two, negative, 2); }),
            "the label -1 is not one of the 2 classes of the confusion matrix");
  EXPECT_EQ(error_of([&] { ConfusionMatrix(two, three, 3); }), "there are 3 predicted labels for 2 examples");
  EXPECT_EQ(error_of([&] { ConfusionMatrix(none, none, 0); }), "a confusion matrix needs at least one class");
  const std::vector<std::string> name{"x"};
  EXPECT_EQ(error_of([&] { classification_report(ConfusionMatrix(two, two, 2), name); }),
            "there are 1 names for 2 classes");
  EXPECT_EQ(error_of([&] { averages_of({}); }), "averages of scores need at least one class");
}

TEST(ClassificationReport, AlignsNamesByTheirColumns) {
  const Numbers labels{0, 1};
  const std::vector<std::string> names{"ein längerer Name", "猫\n"};
  const std::string text = report_text(classification_report(ConfusionMatrix(labels, labels, 2), names), 2);
  EXPECT_TRUE(contains(text, "ein längerer Name       1.00      1.00      1.00         1\n")) << text;
  EXPECT_TRUE(contains(text, "           猫\\x0a       1.00      1.00      1.00         1\n")) << text;
}

}  // namespace
}  // namespace hearth::metrics
