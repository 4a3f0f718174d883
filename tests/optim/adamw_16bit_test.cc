// What rounding the moments to bf16 changes, and what it does not.
#include "hearth/optim/adamw_16bit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "hearth/cpu/parallel.h"
#include "hearth/optim/optimizers.h"

namespace hearth::optim {
namespace {

// Weights on their way to targets: the loss of each is curvature * (weight - target)^2 / 2, and gradients are noisy.
class Problem {
 public:
  explicit Problem(const std::string& optimizer) {
    matrix_ = &store_.add({{"weight", {100, 100}, 0}});
    store_.allocate();
    store_.master().fill_zero();
    OptimizerOptions options;
    options.name = optimizer;
    optimizer_ = make_optimizer(options, store_);
  }

  // The gradients of step number `step` are `scale` times as large.
  void take_steps(int count, double lr, float scale = 1) {
    for (int i = 0; i < count; ++i) {
      std::mt19937 generator(static_cast<std::uint32_t>(++step_));
      std::normal_distribution<float> noise(0, 0.5f);
      const Tensor weights = matrix_->master, gradients = matrix_->grad;
      for (std::int64_t e = 0; e < weights.size(); ++e)
        gradients.data<float>()[e] = scale * (curvature(e) * (weights.data<float>()[e] - target(e)) + noise(generator));
      optimizer_->step(lr);
    }
  }

  double loss() const {
    double sum = 0;
    for (std::int64_t e = 0; e < matrix_->master.size(); ++e)
      sum += curvature(e) * std::pow(matrix_->master.data<float>()[e] - target(e), 2) / 2;
    return sum / static_cast<double>(matrix_->master.size());
  }

  std::vector<float> weights() const {
    return {matrix_->master.data<float>(), matrix_->master.data<float>() + matrix_->master.size()};
  }

  std::vector<float> moments(std::size_t i) const {
    const Tensor values = optimizer_->moments()[i].second;
    std::vector<float> result;
    for (std::int64_t e = 0; e < values.size(); ++e)
      result.push_back(values.type() == DType::bf16 ? static_cast<float>(values.data<BFloat16>()[e])
                                                    : values.data<float>()[e]);
    return result;
  }

 private:
  static float curvature(std::int64_t e) { return 0.1f + static_cast<float>(e % 17) / 8; }
  static float target(std::int64_t e) { return static_cast<float>(e * 37 % 101 - 50) / 50; }

  ParameterStore store_;
  Parameter* matrix_;
  std::unique_ptr<Optimizer> optimizer_;
  int step_ = 0;
};

// The mean of narrow / wide, and how far the quotients are from it.
struct Quotient {
  double mean = 0, deviation = 0;

  Quotient(const std::vector<float>& narrow, const std::vector<float>& wide) {
    const auto count = static_cast<double>(wide.size());
    for (std::size_t i = 0; i < wide.size(); ++i) mean += narrow[i] / wide[i] / count;
    for (std::size_t i = 0; i < wide.size(); ++i) deviation += std::pow(narrow[i] / wide[i] - mean, 2) / count;
    deviation = std::sqrt(deviation);
  }
};

TEST(AdamW16Bit, KeepsItsMomentsInBf16) {
  ParameterStore store;
  store.add({{"weight", {3, 4}, 0}});
  store.allocate();
  OptimizerOptions options;
  options.name = "adamw_16bit";
  const auto optimizer = make_optimizer(options, store);
  for (const auto& [name, values] : optimizer->state()) EXPECT_EQ(values.type(), DType::bf16) << name;
  EXPECT_EQ(optimizer->moments().size(), 2u);
}

TEST(AdamW16Bit, GoesWhereAdamWGoes) {
  Problem wide("adamw_torch"), narrow("adamw_16bit");
  const double before = wide.loss();
  wide.take_steps(400, 0.01);
  narrow.take_steps(400, 0.01);
  EXPECT_LT(wide.loss(), 0.03 * before);
  EXPECT_NEAR(narrow.loss(), wide.loss(), 0.02 * wide.loss());
  const std::vector<float> a = narrow.weights(), b = wide.weights();
  EXPECT_NE(a, b);
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += std::pow(double{a[i]} - b[i], 2);
  EXPECT_LT(std::sqrt(squares / static_cast<double>(a.size())), 0.005);  // half of an update
}

// A second moment changes by a thousandth per step, a bf16 number by 1/256 at least. The errors of rounding are
// forgotten as the moment takes new gradients: it scatters by 3 % as long as gradients stay as large, and by more where
// they vanish.
TEST(AdamW16Bit, SecondMomentFollowsThatOfF32) {
  Problem wide("adamw_torch"), narrow("adamw_16bit");
  for (const float scale : {1.0f, 3.0f, 0.01f, 0.01f}) {
    wide.take_steps(700, 1e-3, scale);
    narrow.take_steps(700, 1e-3, scale);
    const Quotient quotient(narrow.moments(1), wide.moments(1));
    EXPECT_NEAR(quotient.mean, 1, 0.01) << scale;
    EXPECT_LT(quotient.deviation, 0.12) << scale;
  }
}

TEST(AdamW16Bit, MomentsAreTheSameForAnyNumberOfThreads) {
  std::vector<float> expected[2];
  for (const int threads : {1, 2, 8, 16}) {
    cpu::set_num_threads(threads);
    Problem problem("adamw_16bit");
    problem.take_steps(3, 0.01);
    for (const std::size_t i : {0, 1}) {
      if (threads == 1) expected[i] = problem.moments(i);
      EXPECT_EQ(problem.moments(i), expected[i]) << threads;
    }
  }
  cpu::set_num_threads(0);
}

}  // namespace
}  // namespace hearth::optim
