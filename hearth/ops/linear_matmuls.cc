#include "hearth/ops/linear_matmuls.h"

#include <algorithm>
#include <cstddef>

#include "hearth/base/profiler.h"
#include "hearth/base/rounding.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/weights.h"

namespace hearth::ops {

MatmulOperand::MatmulOperand(std::int64_t row_count, std::int64_t cols, DType type, kernels::Layout memory_layout)
    : values({memory_layout == kernels::Layout::blocks ? round_up(row_count, kernels::kBlockSide) : row_count, cols},
             type),
      rows(row_count),
      layout(memory_layout) {}

bool copies_input(DType type, std::int64_t tokens, std::int64_t inputs, std::int64_t outputs) {
  // MiniLM's query, key and value have so many; BERT-large's projections, with 1,024, are not copied.
  constexpr std::int64_t kManyOutputs = 1152;
  return tokens >= kManyTokens && outputs >= kManyOutputs && inputs % kernels::kBlockSide == 0 &&
         kernels::takes_blocks(type);
}

kernels::Layout layout_between_matmuls(DType type, std::int64_t tokens, std::int64_t cols) {
  const bool in_blocks = tokens >= kManyTokens && cols % kernels::kBlockSide == 0 && kernels::takes_blocks(type);
  return in_blocks ? kernels::Layout::blocks : kernels::Layout::rows;
}

MatmulOperand MatmulOperand::of_input(const Context& ctx, const Op& op, const Tensor& x, const Parameter& weight) {
  if (!weight.trainable || !ctx.needs_grad(op) || !copies_input(x.type(), x.rows(), weight.shape[1], weight.shape[0]))
    return x;
  const Span span("linear forward");
  const MatmulOperand copy(x.rows(), x.row_size(), x.type(), kernels::Layout::blocks);
  kernels::to_blocks(x.type(), x.rows(), x.row_size(), x.raw(), copy.values.raw());
  return copy;
}

kernels::GemmArgs linear_forward(const MatmulOperand& x, Parameter& weight, const MatmulOperand& y,
                                 const Context* ctx) {
  kernels::GemmArgs matmul;
  matmul.m = x.rows;
  matmul.n = weight.shape[0];
  matmul.k = weight.shape[1];
  matmul.type = x.type();
  matmul.a = x.values.raw();
  matmul.lda = matmul.k;
  matmul.a_layout = x.layout;
  set_weights(matmul, weight, true, ctx);
  matmul.c_type = y.type();
  matmul.c = y.values.raw();
  matmul.ldc = matmul.n;
  matmul.c_layout = y.layout;
  return matmul;
}

namespace {

// dW (N, K) = dy^T x, and the sums of dy (N), both over tokens.
kernels::GemmArgs weight_grad(const MatmulOperand& dy, const MatmulOperand& x, Parameter& weight) {
  const GradTarget target = grad_target(weight);
  kernels::GemmArgs matmul;
  matmul.m = weight.shape[0];
  matmul.n = weight.shape[1];
  matmul.k = x.rows;
  matmul.type = x.type();
  matmul.a = dy.values.raw();
  matmul.lda = matmul.m;
  matmul.a_transposed = true;
  matmul.a_layout = dy.layout;
  matmul.b = x.values.raw();
  matmul.ldb = matmul.n;
  matmul.b_layout = x.layout;
  matmul.c = target.tensor.raw();
  matmul.ldc = matmul.n;
  matmul.accumulate = target.accumulate;
  matmul.non_temporal = target.tensor.bytes() >= kernels::kLargeBytes;
  return matmul;
}

// dx (T, K) = dy W
kernels::GemmArgs input_grad(const MatmulOperand& dy, Parameter& weight, const GradTarget& dx,
                             const Activated& activated) {
  kernels::GemmArgs matmul;
  matmul.m = dy.rows;
  matmul.n = weight.shape[1];
  matmul.k = weight.shape[0];
  matmul.type = dy.type();
  matmul.a = dy.values.raw();
  matmul.lda = matmul.k;
  matmul.a_layout = dy.layout;
  set_weights(matmul, weight, false);
  matmul.c_type = dx.tensor.type();
  matmul.c = dx.tensor.raw();
  matmul.ldc = matmul.n;
  matmul.c_layout = activated.input.layout;
  matmul.accumulate = dx.accumulate;
  matmul.activation = activated.activation;
  matmul.slope_at = activated.input.values.raw();
  if (activated.replaces) matmul.activated = activated.input.values.raw();
  return matmul;
}

}  // namespace

void LinearBackward::add_parameters(const MatmulOperand& dy, const MatmulOperand& x, const LinearParameters& layer) {
  GradTarget bias;
  if (layer.bias != nullptr && layer.bias->trainable) bias = grad_target(*layer.bias);
  float* const sums = bias.tensor.defined() ? bias.tensor.data<float>() : nullptr;
  if (layer.weight->trainable) {
    kernels::GemmArgs matmul = weight_grad(dy, x, *layer.weight);
    matmul.a_sums = sums;
    matmul.accumulate_a_sums = bias.accumulate;
    add(matmul, layer.weight);
  } else if (sums != nullptr) {
    run();  // a matmul added earlier may write the gradient of the same bias
    kernels::column_sums(dy.type(), dy.rows, dy.cols(), dy.values.raw(), dy.cols(), sums, bias.accumulate);
  }
}

void LinearBackward::add_input(const MatmulOperand& dy, Parameter& weight, const GradTarget& dx,
                               const Activated& activated) {
  if (dx.tensor.defined()) add(input_grad(dy, weight, dx, activated), nullptr);
}

void LinearBackward::add(const kernels::GemmArgs& matmul, Parameter* weight) {
  const bool fits = std::ranges::none_of(matmuls_, [&](const kernels::GemmArgs& other) {
    const bool same_sums = matmul.a_sums != nullptr && matmul.a_sums == other.a_sums;
    return matmul.type != other.type || matmul.c == other.c || same_sums;
  });
  if (!fits) run();
  matmuls_.push_back(matmul);
  weights_.push_back(weight);
}

void LinearBackward::run() {
  for (std::size_t i = 0; i < matmuls_.size(); ++i)
    if (weights_[i] != nullptr) matmuls_[i].c_squares = &weights_[i]->grad_squares.emplace();
  kernels::gemm_together(matmuls_);
  matmuls_.clear();
  weights_.clear();
}

void linear_backward(const MatmulOperand& dy, const MatmulOperand& x, const LinearParameters& layer,
                     const GradTarget& dx) {
  const Span span("linear backward");
  LinearBackward backward;
  backward.add_parameters(dy, x, layer);
  backward.add_input(dy, *layer.weight, dx);
  backward.run();
}

}  // namespace hearth::ops
