#pragma once

#include <vector>

#include "hearth/kernels/gemm/gemm.h"
#include "hearth/ops/context.h"
#include "hearth/ops/grad.h"
#include "hearth/ops/linear.h"

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

// From this many tokens on, activations are most of a step's memory and do not stay in the caches. Their layout and
// what backward keeps of them are chosen for that. With 441 tokens, blocks made no difference that was measured.
inline constexpr std::int64_t kManyTokens = 1024;

// Whether a linear layer that is trained keeps a copy of its input in blocks. The copy costs a pass and memory, and
// pays with many tokens and many outputs.
bool copies_input(DType type, std::int64_t tokens, std::int64_t inputs, std::int64_t outputs);

// The layout of a matrix (tokens, cols) that only matmuls write and read.
kernels::Layout layout_between_matmuls(DType type, std::int64_t tokens, std::int64_t cols);

// Whether backward computes the output of the activation between two linear layers again, instead of keeping it. That
// saves memory with many tokens. The gradient of the second weight reads the output, so it must wait for the matmul
// that computes it.
inline bool computes_activation_again(std::int64_t tokens) { return tokens >= kManyTokens; }

// The matmul of a linear layer's forward pass, y (T, N) = x (T, K) W^T. y has the memory of the result; `ctx` is null
// where a backward pass runs the forward pass again.
kernels::GemmArgs linear_forward(const MatmulOperand& x, Parameter& weight, const MatmulOperand& y, const Context* ctx);

// The activation whose output is the input of a linear layer, and its own input. `replaces`: the output, which the
// weight's gradient reads, is computed again and replaces that input.
struct Activated {
  kernels::Activation activation = kernels::Activation::none;
  MatmulOperand input = {};
  bool replaces = false;
};

// Matmuls of the backward passes of linear layers that do not need each other's results: in one parallel region, unless
// they differ in dtype or add to the same gradient. dy, the gradient of a layer's output, has the dtype of x, its
// input, which may be undefined where the weight is frozen. The operands must live until run().
class LinearBackward {
 public:
  // The gradients of the weight and the bias, into the gradient arena; a frozen one has none, and the bias may be null.
  // dy in blocks: only where the weight is trainable or the bias is not.
  void add_parameters(const MatmulOperand& dy, const MatmulOperand& x, const LinearParameters& layer);
  // dx, unless it is undefined. If x is the output of an activation, `activated` may name it: dx is then the gradient
  // of its input, in the layout of that input.
  void add_input(const MatmulOperand& dy, Parameter& weight, const GradTarget& dx, const Activated& activated = {});
  void run();

 private:
  void add(const kernels::GemmArgs& matmul, Parameter* weight);

  std::vector<kernels::GemmArgs> matmuls_;
  std::vector<Parameter*> weights_;  // whose gradient each matmul computes; null: the gradient of an input
};

// All of one layer.
void linear_backward(const MatmulOperand& dy, const MatmulOperand& x, const LinearParameters& layer,
                     const GradTarget& dx);

}  // namespace hearth::ops
