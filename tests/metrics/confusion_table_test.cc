#include "hearth/metrics/confusion_matrix.h"
#include "tests/support.h"

namespace hearth::metrics {
namespace {

const std::vector<std::int64_t> kTruth{0, 0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
const std::vector<std::int64_t> kPredicted{0, 1, 0, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 1};
const std::vector<std::string> kNames{"bad", "good", "neither"};

std::string table(std::size_t width, const std::vector<std::string>& names = kNames) {
  return confusion_table(ConfusionMatrix(kTruth, kPredicted, names.size()), names, width);
}

TEST(ConfusionTable, HasTheNamesOverItsColumns) {
  EXPECT_EQ(table(36),
            "true \\ predicted  bad  good  neither\n"
            "bad                 2     1        0\n"
            "good                0     2        0\n"
            "neither             1     1       10\n");
}

TEST(ConfusionTable, HasNumbersWhereNamesAreTooWide) {
  EXPECT_EQ(table(35),
            "true \\ predicted  0  1   2\n"
            "0 bad             2  1   0\n"
            "1 good            0  2   0\n"
            "2 neither         1  1  10\n");
}

TEST(ConfusionTable, ListsTheMistakesOfManyClasses) {
  EXPECT_EQ(table(25),
            "true      correct  predicted instead\n"
            "bad        2 of 3  good 1\n"
            "good       2 of 2\n"
            "neither  10 of 12  bad 1, good 1\n");
}

TEST(ConfusionTable, ListsTheMostFrequentMistakesFirst) {
  const std::vector<std::int64_t> truth(11, 0), predicted{1, 2, 2, 3, 4, 4, 4, 5, 0, 0, 2};
  const std::vector<std::string> names{"a", "b", "c", "d", "e", "f"};
  const std::string text = confusion_table(ConfusionMatrix(truth, predicted, 6), names, 10);
  EXPECT_TRUE(contains(text, "a     2 of 11  c 3, e 3, b 1, others 2\n")) << text;
}

TEST(ConfusionTable, ShortensLongNamesAndHidesControlCharacters) {
  const std::string text = table(120, {std::string(60, 'x'), "new\nline", "猫"});
  EXPECT_TRUE(contains(text, std::string(37, 'x') + "...")) << text;
  EXPECT_FALSE(contains(text, std::string(38, 'x'))) << text;
  EXPECT_TRUE(contains(text, "new\\x0aline")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
}

TEST(ConfusionTable, NeedsAName) {
  const ConfusionMatrix matrix(kTruth, kPredicted, 4);
  EXPECT_EQ(error_of([&] { confusion_table(matrix, kNames); }), "there are 3 names for 4 classes");
}

}  // namespace
}  // namespace hearth::metrics
