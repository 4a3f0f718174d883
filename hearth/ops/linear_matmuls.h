#pragma once

#include "hearth/kernels/gemm/gemm.h"
#include "hearth/ops/context.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {

// A matrix (rows, cols) that only matmuls read and write, in the layout that suits them; any Tensor, in rows.
struct MatmulOperand {
  Tensor values;
  std::int64_t rows = 0;
  kernels::Layout layout = kernels::Layout::rows;

  MatmulOperand() = default;
  MatmulOperand(const Tensor& tensor) : values(tensor), rows(tensor.defined() ? tensor.rows() : 0) {}
  // An uninitialised matrix (rows, cols).
  MatmulOperand(std::int64_t row_count, std::int64_t cols, DType type, kernels::Layout memory_layout);

  // x, the input of a linear layer: a copy in blocks if copies_input() says so and backward will run for `op`.
  static MatmulOperand of_input(const Context& ctx, const Op& op, const Tensor& x, const Parameter& weight);

  std::int64_t cols() const { return values.row_size(); }
  DType type() const { return values.type(); }
};

// Matmuls are faster on activations in blocks from this many tokens on: a weight's gradient then reads them many times
// from beyond the caches of its core. With 441 tokens no difference was measured.
inline constexpr std::int64_t kManyTokens = 1024;

// Whether a linear layer that is trained keeps a copy of its input in blocks. The copy costs a pass and memory, and
// pays with many tokens and many outputs.
bool copies_input(DType type, std::int64_t tokens, std::int64_t inputs, std::int64_t outputs);

// The layout of a matrix (tokens, cols) that only matmuls write and read.
kernels::Layout layout_between_matmuls(DType type, std::int64_t tokens, std::int64_t cols);

// The matmul of a linear layer's forward pass, y (T, N) = x (T, K) W^T. y has the memory of the result; `ctx` is null
// where a backward pass runs the forward pass again.
kernels::GemmArgs linear_forward(const MatmulOperand& x, Parameter& weight, const MatmulOperand& y, const Context* ctx);

// The matmuls of a linear layer's backward pass, in one parallel region. dy has the dtype of x. The gradients of the
// weight and the bias go into the gradient arena; a frozen one has none. `dx` is left out where no gradient of x is
// wanted, `bias` is null where there is none. If x is the output of an activation, `activated` may name it, and dx
// becomes the gradient of its input, in the layout of that input. dy in blocks: only where the weight is trainable or
// the bias is not.
struct Activated {
  kernels::Activation activation = kernels::Activation::none;
  MatmulOperand input = {};
};
void linear_backward(const MatmulOperand& dy, const MatmulOperand& x, Parameter& weight, Parameter* bias,
                     const GradTarget& dx, const Activated& activated = {});

}  // namespace hearth::ops
