#include "hearth/optim/lr_scheduler.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hearth::optim {
namespace {

struct OneWeight {
  OneWeight() {
    parameters.add({{"bias", Shape({1})}});
    parameters.allocate();
    parameters.master().data<float>()[0] = 2;
    parameters.zero_grad();
    parameters.complete_grads();
  }
  float weight() const { return parameters.master().data<float>()[0]; }

  ParameterStore parameters;
};

TEST(LrScheduler, SetsTheRateOfTheFirstUpdateAtOnceAndOfTheNextWithEachStep) {
  OneWeight model;
  const auto optimizer = adamw(model.parameters, {.lr = 0.1});
  LrScheduler schedule = linear_schedule_with_warmup(*optimizer, 2, 6);
  std::vector<double> rates;
  for (int step = 0; step < 7; ++step, schedule.step()) rates.push_back(optimizer->lr());
  const std::vector<double> expected{0, 0.05, 0.1, 0.075, 0.05, 0.025, 0};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_DOUBLE_EQ(rates[i], expected[i]) << i;
}

TEST(Optimizer, StepTakesZeroForParametersThatNoBackwardReached) {
  OneWeight model;
  model.parameters.grad().data<float>()[0] = std::nanf("");
  model.parameters.zero_grad();
  adamw(model.parameters, {.lr = 0.5, .weight_decay = 0})->step();
  EXPECT_EQ(model.weight(), 2);
}

TEST(AdamW, DecaysAllParametersAsTorchDoes) {
  OneWeight model, other;
  const auto optimizer = adamw(model.parameters, {.lr = 0.5, .weight_decay = 0.1});
  optimizer->step();  // the gradient is zero
  EXPECT_FLOAT_EQ(model.weight(), 2 * (1 - 0.5f * 0.1f));
  make_optimizer({.weight_decay = 0.1, .lr = 0.5}, other.parameters)->step();
  EXPECT_EQ(other.weight(), 2) << "the Trainer's rule: biases do not decay";
}

}  // namespace
}  // namespace hearth::optim
