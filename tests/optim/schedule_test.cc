#include "hearth/optim/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "hearth/base/error.h"
#include "tests/optim/expected_values.h"

namespace hearth::optim {
namespace {

TEST(Schedule, HasTheFactorsOfTransformers) {
  std::set<std::string> names;
  for (const auto& [options, factors] : expected::kSchedules) {
    names.insert(options.name);
    for (std::size_t i = 0; i < expected::kScheduleSteps.size(); ++i)
      EXPECT_NEAR(schedule_factor(options, expected::kScheduleSteps[i], expected::kInitialLr), factors[i], 1e-12)
          << options.name << ", warmup " << options.warmup_steps << ", step " << expected::kScheduleSteps[i];
  }
  names.insert("reduce_lr_on_plateau");
  const std::vector<std::string> known = schedule_names();
  EXPECT_EQ(names, std::set<std::string>(known.begin(), known.end()));
}

TEST(Schedule, IsFiniteWhereEveryStepWarmsUp) {
  for (const expected::Schedule& row : expected::kSchedules) {
    ScheduleOptions options = row.options;
    options.warmup_steps = options.total_steps = 10;
    for (const std::int64_t step : {0, 9, 10, 11})
      EXPECT_TRUE(std::isfinite(schedule_factor(options, step, expected::kInitialLr))) << options.name << " " << step;
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
  ScheduleOptions options;
  options.name = "lineer";
  try {
    schedule_factor(options, 0, 1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(
        std::string(error.what()),
        "the schedule 'lineer' is not known; choose one of linear, cosine, cosine_with_restarts, polynomial, "
        "constant, constant_with_warmup, inverse_sqrt, cosine_with_min_lr, warmup_stable_decay, reduce_lr_on_plateau");
  }
  options.name = "reduce_lr_on_plateau";
  EXPECT_THROW(schedule_factor(options, 0, 1), Error);
}

TEST(Schedule, StableStepsNeedAKnownDecay) {
  ScheduleOptions options;
  options.name = "warmup_stable_decay";
  options.total_steps = 10;
  EXPECT_THROW(schedule_factor(options, 0, 1), Error);
  options.num_decay_steps = 4;
  EXPECT_EQ(schedule_factor(options, 0, 1), 1);
  options.decay_type = "sqrt";
  EXPECT_THROW(schedule_factor(options, 0, 1), Error);
}

}  // namespace
}  // namespace hearth::optim
