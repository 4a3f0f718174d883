#include "hearth/optim/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "hearth/base/error.h"
#include "tests/optim/expected_values.h"

namespace hearth::optim {
namespace {

ScheduleOptions options_of(const expected::Schedule& row) {
  return {row.name, row.warmup_steps, row.total_steps, row.num_cycles, row.power, row.lr_end, row.timescale};
}

TEST(Schedule, HasTheFactorsOfTransformers) {
  std::set<std::string> names;
  for (const expected::Schedule& row : expected::kSchedules) {
    names.insert(row.name);
    ASSERT_TRUE(is_schedule(row.name));
    for (std::size_t i = 0; i < expected::kScheduleSteps.size(); ++i)
      EXPECT_NEAR(schedule_factor(options_of(row), expected::kScheduleSteps[i], expected::kInitialLr), row.factors[i],
                  1e-12)
          << row.name << ", warmup " << row.warmup_steps << ", step " << expected::kScheduleSteps[i];
  }
  EXPECT_EQ(names.size(), 7u);
}

TEST(Schedule, IsFiniteWhereEveryStepWarmsUp) {
  for (const expected::Schedule& row : expected::kSchedules) {
    ScheduleOptions options = options_of(row);
    options.warmup_steps = options.total_steps = 10;
    for (const std::int64_t step : {0, 9, 10, 11})
      EXPECT_TRUE(std::isfinite(schedule_factor(options, step, expected::kInitialLr))) << row.name << " " << step;
  }
}

TEST(Schedule, PolynomialDecayEndsBelowItsBeginning) {
  ScheduleOptions options;
  options.name = "polynomial";
  options.total_steps = 10;
  options.lr_end = 1e-4;
  EXPECT_THROW(schedule_factor(options, 0, 5e-5), Error);
}

TEST(Schedule, IsOneOfTheKnown) {
  EXPECT_FALSE(is_schedule("reduce_lr_on_plateau"));
  ScheduleOptions options;
  options.name = "lineer";
  try {
    schedule_factor(options, 0, 1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "the schedule 'lineer' is not known; choose one of linear, cosine, cosine_with_restarts, polynomial, "
              "constant, constant_with_warmup, inverse_sqrt");
  }
}

}  // namespace
}  // namespace hearth::optim
