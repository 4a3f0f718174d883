// Scores of the fixtures, compared to the last digit.
#pragma once

#include "hearth/io/json.h"
#include "hearth/metrics/scores.h"
#include "tests/support.h"

namespace hearth::metrics {

// `expected` is precision, recall, F1 and, where there are four numbers, support.
inline void expect_scores(const Scores& scores, const io::Json& expected) {
  EXPECT_EQ(scores.precision, expected.at(0).get<double>());
  EXPECT_EQ(scores.recall, expected.at(1).get<double>());
  EXPECT_EQ(scores.f1, expected.at(2).get<double>());
  if (expected.size() > 3) {
    EXPECT_EQ(scores.support, expected.at(3).get<std::int64_t>());
  }
}

inline void expect_averages(const Averages& averages, const io::Json& expected) {
  expect_scores(averages.micro, expected.at("micro"));
  expect_scores(averages.macro, expected.at("macro"));
  expect_scores(averages.weighted, expected.at("weighted"));
}

// Calls `test(case)` for all cases, whose number has to be at least `least`.
template <class Test>
void for_each_case(const io::Json& cases, std::size_t least, Test&& test) {
  ASSERT_GE(cases.size(), least);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(fmt::format("case {}", i));
    test(cases[i]);
  }
}

}  // namespace hearth::metrics
