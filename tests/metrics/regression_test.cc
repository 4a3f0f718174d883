#include "hearth/metrics/regression.h"

#include <cmath>
#include <limits>

#include "tests/metrics/expected_scores.h"

namespace hearth::metrics {
namespace {

using io::Json;

const float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<float> floats_of(const Json& thousandths) {
  std::vector<float> values;
  for (const Json& value : thousandths) values.push_back(static_cast<float>(value.get<double>() / 1000));
  return values;
}

std::vector<double> doubles_of(const Json& thousandths) {
  const std::vector<float> values = floats_of(thousandths);
  return {values.begin(), values.end()};
}

void for_each_regression(const std::function<void(const Json&)>& test) {
  for_each_case(io::read_json(fixture("metrics/regression.json")), 36, test);
}

void expect_same(double value, double expected) {
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(value)) << value;
  else
    EXPECT_EQ(value, expected);
}

void expect_near(double value, double expected, double tolerance) {
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(value)) << value;
  else
    EXPECT_NEAR(value, expected, tolerance);
}

TEST(Regression, MeanSquaredErrorAsScikitLearn) {
  for_each_regression([](const Json& item) {
    expect_same(mean_squared_error(floats_of(item["x"]), floats_of(item["y"])), item["mean_squared_error"]);
    expect_same(mean_squared_error(doubles_of(item["x"]), doubles_of(item["y"])), item["mean_squared_error"]);
  });
}

TEST(Regression, SpearmanAsScipy) {
  for_each_regression([](const Json& item) {
    expect_same(spearman(floats_of(item["x"]), floats_of(item["y"])), item["spearman"]);
    expect_same(spearman(doubles_of(item["x"]), doubles_of(item["y"])), item["spearman"]);
  });
}

// The order of additions in scipy's dot product depends on the machine.
TEST(Regression, PearsonAsScipy) {
  for_each_regression([](const Json& item) {
    const double ulp = std::numeric_limits<float>::epsilon();
    expect_near(pearson(floats_of(item["x"]), floats_of(item["y"])), item["pearson_float32"], ulp);
    expect_near(pearson(doubles_of(item["x"]), doubles_of(item["y"])), item["pearson_float64"], 1e-15);
  });
}

// The double version, rounded to float, equals scipy in 16 cases only.
TEST(Regression, PearsonOfFloatsIsRoundedAsScipy) {
  int equal = 0;
  for_each_regression([&](const Json& item) {
    const double expected = item["pearson_float32"];
    equal += pearson(floats_of(item["x"]), floats_of(item["y"])) == expected;
  });
  EXPECT_GE(equal, 30);
}

// Without rounding to an integer both would be 0.99999994 in size.
TEST(Regression, PearsonOfTwoPairsIsExact) {
  const std::vector<float> x{2.09597254f, 1.56636763f}, y{3.42609763f, 2.62274075f};
  EXPECT_EQ(pearson(x, y), 1);
  const std::vector<float> rising{1.02226126f, 2.21726441f}, falling{4.39058733f, 1.14788604f};
  EXPECT_EQ(pearson(rising, falling), -1);
}

TEST(Regression, NaNInputsGiveNaN) {
  const std::vector<float> x{1, 2, kNaN}, y{1, 3, 2};
  EXPECT_TRUE(std::isnan(pearson(x, y)));
  EXPECT_TRUE(std::isnan(spearman(x, y)));
  EXPECT_TRUE(std::isnan(spearman(y, x)));
  EXPECT_TRUE(std::isnan(mean_squared_error(x, y)));
}

TEST(Regression, TooFewNumbers) {
  const std::vector<float> none, one{1}, two{1, 2};
  EXPECT_EQ(error_of([&] { pearson(one, one); }), "1 pairs of numbers are too few: at least 2 are needed");
  EXPECT_EQ(error_of([&] { pearson(one, two); }), "there are 1 numbers on one side and 2 on the other");
  EXPECT_EQ(error_of([&] { spearman(one, two); }), "there are 1 numbers on one side and 2 on the other");
  EXPECT_EQ(error_of([&] { mean_squared_error(none, none); }), "0 pairs of numbers are too few: at least 1 are needed");
  EXPECT_TRUE(std::isnan(spearman(one, one)));
}

}  // namespace
}  // namespace hearth::metrics
