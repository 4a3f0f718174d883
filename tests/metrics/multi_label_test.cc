#include "hearth/metrics/multi_label.h"

#include "hearth/metrics/report.h"
#include "tests/metrics/expected_scores.h"

namespace hearth::metrics {
namespace {

using io::Json;

std::vector<std::uint8_t> flags_of(const std::string& digits) {
  std::vector<std::uint8_t> flags;
  for (const char digit : digits) flags.push_back(digit - '0');
  return flags;
}

TEST(MultiLabel, ScoresAsScikitLearn) {
  const Json file = io::read_json(fixture("metrics/classification.json"));
  for_each_case(file["multi_label"], 25, [](const Json& item) {
    const MultiLabelScores scores =
        multi_label_scores(flags_of(item["truth"]), flags_of(item["predicted"]), item["labels"]);
    EXPECT_EQ(scores.subset_accuracy, item["subset_accuracy"].get<double>());
    expect_averages(scores.averages, item);
    ASSERT_EQ(scores.labels.size(), item["classes"].size());
    for (std::size_t i = 0; i < scores.labels.size(); ++i) expect_scores(scores.labels[i], item["classes"][i]);
    const std::vector<std::string> names = item["names"];
    EXPECT_EQ(report_text(multi_label_report(scores, names)), item["report"].get<std::string>());
  });
}

TEST(MultiLabel, RefusesOtherFlags) {
  const auto error = [](const std::string& truth, const std::string& predicted, std::size_t labels) {
    return error_of([&] { multi_label_scores(flags_of(truth), flags_of(predicted), labels); });
  };
  EXPECT_EQ(error("0101", "01", 2), "there are 2 predicted flags for 4 true ones");
  EXPECT_EQ(error("010", "010", 2), "3 flags are not rows of 2 labels");
  EXPECT_EQ(error("", "", 2), "0 flags are not rows of 2 labels");
  EXPECT_EQ(error("01", "01", 0), "2 flags are not rows of 0 labels");
  EXPECT_EQ(error("01", "02", 2), "flags of labels are 0 or 1");
  EXPECT_EQ(error("01", "01", 2), "");
}

}  // namespace
}  // namespace hearth::metrics
