#include "hearth/report/step_curve.h"

#include <cmath>

#include "tests/support.h"

namespace hearth::report {
namespace {

StepFacts facts_of(std::int64_t step) {
  StepFacts facts;
  facts.loss = 100.0 / static_cast<double>(step);
  facts.grad_norm = 2;
  facts.learning_rate = 1e-3;
  facts.seconds = 0.5 * static_cast<double>(step);
  facts.tokens = 100.0 * static_cast<double>(step);
  facts.flops = 3e9 * static_cast<double>(step);
  facts.matmul_rate = 12e9;
  facts.ranks = {{0.4, 1000}, {0.3, 3000}};
  return facts;
}

StepCurve curve_of(std::int64_t steps) {
  StepCurve curve;
  for (std::int64_t step = 1; step <= steps; ++step) curve.add(step, static_cast<double>(step), facts_of(step));
  return curve;
}

TEST(StepCurveTest, HasEveryStepOfAShortRun) {
  const StepCurve curve = curve_of(3);
  ASSERT_EQ(curve.points().size(), 3u);
  const CurvePoint& last = curve.points().back();
  EXPECT_EQ(last.step, 3);
  EXPECT_DOUBLE_EQ(last.loss, 100.0 / 3);
  EXPECT_DOUBLE_EQ(last.tokens_per_second, 200);
  EXPECT_DOUBLE_EQ(last.limit_share, 0.5);
  EXPECT_EQ(last.memory_bytes, 3000);
}

TEST(StepCurveTest, StaysBoundedAndKeepsTheMean) {
  constexpr std::int64_t kSteps = 100'000;
  const StepCurve curve = curve_of(kSteps);
  EXPECT_LE(curve.points().size(), StepCurve::kMostPoints);
  EXPECT_GE(curve.points().size(), StepCurve::kMostPoints / 2 - 1);
  double sum = 0;
  for (const CurvePoint& point : curve.points()) sum += point.loss * static_cast<double>(curve.steps_per_point());
  double expected = 0;
  for (std::int64_t step = 1; step <= curve.points().back().step; ++step) expected += 100.0 / static_cast<double>(step);
  EXPECT_NEAR(sum / expected, 1, 1e-9);
  for (std::size_t i = 1; i < curve.points().size(); ++i)
    ASSERT_EQ(curve.points()[i].step - curve.points()[i - 1].step, curve.steps_per_point());
}

TEST(StepCurveTest, SurvivesItsFile) {
  StepCurve curve = curve_of(50);
  StepFacts bad = facts_of(51);
  bad.loss = std::nan("");
  curve.add(51, 51, bad);
  const io::Json json = io::parse_json_strict(io::dump_json(curve.to_json(), io::kOneLine), "curve");
  EXPECT_TRUE(json["loss"].back().is_null());
  StepCurve read = StepCurve::from_json(json, "curve");
  ASSERT_EQ(read.points().size(), 51u);
  EXPECT_TRUE(std::isnan(read.points().back().loss));
  EXPECT_EQ(read.to_json(), curve.to_json());
  read.resume_from(20);
  EXPECT_EQ(read.points().back().step, 20);
  read.add(21, 30, facts_of(1));  // a new process counts from zero
  EXPECT_DOUBLE_EQ(read.points().back().tokens_per_second, 200);
}

TEST(StepCurveTest, ADamagedFileIsAnError) {
  io::Json json = curve_of(3).to_json();
  json["loss"].erase(0);
  EXPECT_TRUE(
      contains(error_of([&] { StepCurve::from_json(json, "x.json"); }), "x.json: \"curve\" must have an array"));
  json = curve_of(3).to_json();
  json["step"][0] = "one";
  EXPECT_TRUE(contains(error_of([&] { StepCurve::from_json(json, "x.json"); }), "whole numbers"));
  EXPECT_TRUE(contains(error_of([] { StepCurve::from_json(io::Json(), "x.json"); }), "must be an object"));
}

}  // namespace
}  // namespace hearth::report
