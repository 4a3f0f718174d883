#include "hearth/kernels/rows/layer_norm.h"

#include <gtest/gtest.h>

#include <tuple>

#include "hearth/kernels/reference/reference.h"
#include "tests/kernels/buffers.h"
#include "tests/kernels/sequences.h"

namespace hearth::kernels {
namespace {

// One problem: the inputs, and room for what both directions write.
struct Problem {
  Problem(DType type, const PackedSequences& sequences, std::int64_t cols, bool residual, float p)
      : tokens(sequences.view().tokens()),
        x(type, tokens * cols, 1),
        residual_in(type, tokens * cols, 2),
        z(type, tokens * cols),
        y(type, tokens * cols),
        gamma(DType::f32, cols, 3, 0.2f, 1),
        beta(DType::f32, cols, 4, 0.2f),
        mean(DType::f32, tokens),
        rstd(DType::f32, tokens),
        dy(type, tokens * cols, 5),
        dx(type, tokens * cols),
        dresidual(type, tokens * cols, 6),
        dgamma(DType::f32, cols, 7),
        dbeta(DType::f32, cols, 8) {
    args.type = type;
    args.sequences = sequences.view();
    args.cols = cols;
    args.eps = 1e-12f;
    args.dropout = {p, philox_key(42, 3, 1)};
    args.x = x.data();
    args.residual = residual ? residual_in.data() : nullptr;
    args.gamma = gamma.floats();
    args.beta = beta.floats();
    args.z = z.data();
    args.y = y.data();
    args.mean = mean.floats();
    args.rstd = rstd.floats();
    grads.dy = dy.data();
    grads.dx = dx.data();
    grads.dresidual = residual ? dresidual.data() : nullptr;
    grads.dgamma = dgamma.floats();
    grads.dbeta = dbeta.floats();
  }
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  std::int64_t tokens;
  Buffer x, residual_in, z, y, gamma, beta, mean, rstd, dy, dx, dresidual, dgamma, dbeta;
  LayerNormArgs args;
  LayerNormGradArgs grads;
};

TEST(LayerNorm, MatchesReference) {
  const OneThread one_thread;
  const PackedSequences sequences({25, 0, 40, 5});
  for (const DType type : kFormats) {
    for (const bool residual : {false, true}) {
      for (const float p : {0.0f, 0.25f}) {
        for (const bool accumulate : {false, true}) {
          for (const std::int64_t cols : {2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 129, 200}) {
            Problem fast(type, sequences, cols, residual, p), plain(type, sequences, cols, residual, p);
            for (Problem* problem : {&fast, &plain})
              problem->grads.accumulate_dresidual = problem->grads.accumulate_dgamma = problem->grads.accumulate_dbeta =
                  accumulate;

            layer_norm_forward(fast.args);
            reference::layer_norm_forward(plain.args);
            const double unit = unit_of(type);
            // Few columns may lie close together; then almost everything cancels and rstd is large.
            const double noise = cols < 16 ? 2e-4 : 4e-6;
            expect_close(fast.z, plain.z, unit, 1e-7, "z");
            // Statistics are those of z as stored, which a tie may have rounded the other way.
            std::memcpy(plain.z.data(), fast.z.data(), static_cast<std::size_t>(fast.z.size()) * size_of(type));
            plain.args.x = plain.z.data();
            plain.args.residual = nullptr;
            plain.args.dropout = {};
            reference::layer_norm_forward(plain.args);
            plain.args.dropout = fast.args.dropout;
            expect_close(fast.mean, plain.mean, 1e-6, 1e-6, "mean");
            expect_close(fast.rstd, plain.rstd, 3e-6, 0, "rstd");
            expect_close(fast.y, plain.y, unit, noise, "y");

            layer_norm_backward(fast.args, fast.grads);
            reference::layer_norm_backward(plain.args, plain.grads);
            expect_close(fast.dx, plain.dx, unit, noise, "dx");
            expect_close(fast.dresidual, plain.dresidual, unit, noise, "dresidual");
            expect_close(fast.dgamma, plain.dgamma, 1e-5, 1e-5, "dgamma");
            expect_close(fast.dbeta, plain.dbeta, 1e-5, 1e-5, "dbeta");
          }
        }
      }
    }
  }
}

TEST(LayerNorm, WorksInPlace) {
  const PackedSequences sequences({20, 13});
  Problem apart(DType::bf16, sequences, 100, true, 0.1f), in_place(DType::bf16, sequences, 100, true, 0.1f);
  in_place.args.z = in_place.x.data();
  in_place.grads.dx = in_place.dy.data();
  for (Problem* problem : {&apart, &in_place}) {
    layer_norm_forward(problem->args);
    layer_norm_backward(problem->args, problem->grads);
  }
  EXPECT_EQ(in_place.x, apart.z);
  EXPECT_EQ(in_place.y, apart.y);
  EXPECT_EQ(in_place.dy, apart.dx);
  EXPECT_EQ(in_place.dgamma, apart.dgamma);
}

TEST(LayerNorm, HasTheMeanAndTheSpreadOfLargeNumbers) {
  const PackedSequences sequences({4});
  Problem problem(DType::f32, sequences, 768, false, 0);
  problem.x = Buffer(DType::f32, 4 * 768, 1, 0.01f, 100);
  problem.args.x = problem.x.data();
  layer_norm_forward(problem.args);
  for (std::int64_t row = 0; row < 4; ++row) {
    EXPECT_NEAR(problem.mean.at(row), 100, 1e-2);
    EXPECT_NEAR(problem.rstd.at(row), 100, 10);
  }
}

TEST(LayerNorm, BackwardIsTheDerivative) {
  constexpr std::int64_t kCols = 20;
  constexpr float kStep = 1.0f / 128;
  const PackedSequences sequences({2});
  Problem problem(DType::f32, sequences, kCols, true, 0.3f);
  const auto loss = [&] {
    layer_norm_forward(problem.args);
    double sum = 0;
    for (std::int64_t i = 0; i < problem.y.size(); ++i) sum += double{problem.y.at(i)} * problem.dy.at(i);
    return sum;
  };
  const auto expect_derivative = [&](Buffer& of, const Buffer& gradient, const char* what) {
    for (std::int64_t i = 0; i < of.size(); ++i) {
      const float before = of.at(i);
      of.set(i, before + kStep);
      const double above = loss();
      of.set(i, before - kStep);
      const double below = loss();
      of.set(i, before);
      EXPECT_NEAR((above - below) / (2 * kStep), gradient.at(i), 2e-3) << what << " " << i;
    }
  };
  loss();
  layer_norm_backward(problem.args, problem.grads);
  expect_derivative(problem.x, problem.dx, "x");
  expect_derivative(problem.residual_in, problem.dresidual, "residual");
  expect_derivative(problem.gamma, problem.dgamma, "gamma");
  expect_derivative(problem.beta, problem.dbeta, "beta");
}

TEST(LayerNorm, DoesNotDependOnThreads) {
  const PackedSequences sequences({100, 200, 33});
  expect_same_for_any_threads([&] {
    Problem problem(DType::bf16, sequences, 600, true, 0.1f);
    layer_norm_forward(problem.args);
    layer_norm_backward(problem.args, problem.grads);
    return std::make_tuple(problem.z, problem.y, problem.mean, problem.rstd, problem.dx, problem.dresidual,
                           problem.dgamma, problem.dbeta);
  });
}

TEST(LayerNorm, OfNoTokensClearsItsParameterGradients) {
  const PackedSequences sequences({});
  Problem problem(DType::f32, sequences, 10, true, 0.1f);
  layer_norm_forward(problem.args);
  layer_norm_backward(problem.args, problem.grads);
  for (std::int64_t i = 0; i < 10; ++i) EXPECT_EQ(problem.dgamma.at(i), 0);
}

}  // namespace
}  // namespace hearth::kernels
