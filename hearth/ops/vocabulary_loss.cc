#include "hearth/ops/vocabulary_loss.h"

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/cpu/parallel.h"
#include "hearth/kernels/loss/loss.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/cast.h"
#include "hearth/ops/linear_matmuls.h"

namespace hearth::ops {
namespace {

constexpr std::int64_t kBlockLogits = 1 << 23;  // 32 MiB
constexpr std::int64_t kRowUnit = 32;           // matmuls that sum over rows pad them to multiples of this

// The rows [begin, end) of x, with their logits (end - begin, V).
struct Block {
  std::int64_t begin = 0, end = 0;
  Tensor x, logits;

  std::int64_t rows() const { return end - begin; }
};

// Visits x block by block. `ctx` is null in a backward pass.
template <class Visit>
void for_each_block(const Tensor& x, Parameter& words, const float* bias, const Context* ctx, const Visit& visit) {
  const std::int64_t vocabulary = words.shape[0], length = vocabulary_block_rows(vocabulary);
  const Tensor memory({std::min(x.rows(), length), vocabulary}, DType::f32);
  for (std::int64_t begin = 0; begin < x.rows(); begin += length) {
    const std::int64_t end = std::min(x.rows(), begin + length);
    const Block block{begin, end, x.slice(begin, end), memory.slice(0, end - begin)};
    kernels::GemmArgs matmul = linear_forward(block.x, words, block.logits, ctx);
    matmul.bias = bias;
    kernels::gemm(matmul);
    visit(block);
  }
}

// The sum of the rows' losses. Where the logits are to become their gradient, they become that of the block's mean.
double sum_of_losses(const Block& block, std::span<const std::int64_t> labels, float label_smoothing, bool gradient) {
  float* const logits = block.logits.data<float>();
  const float mean = kernels::cross_entropy(block.rows(), block.logits.row_size(), logits, labels.data() + block.begin,
                                            {.label_smoothing = label_smoothing}, gradient ? logits : nullptr);
  return double{mean} * static_cast<double>(block.rows());
}

void append_most_likely(const Block& block, std::vector<std::int32_t>& tokens) {
  tokens.resize(static_cast<std::size_t>(block.end));
  cpu::parallel_for(block.rows(), [&](std::int64_t row) {
    const std::span logits(block.logits.slice(row, row + 1).data<float>(),
                           static_cast<std::size_t>(block.logits.row_size()));
    tokens[static_cast<std::size_t>(block.begin + row)] =
        static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
  });
}

void check_arguments(const Tensor& x, const Parameter& words, const Parameter& bias,
                     std::span<const std::int64_t> labels) {
  check_floats("vocabulary_loss", x);
  check_matrix("vocabulary_loss", words);
  check_vector("vocabulary_loss", &bias, words.shape[0]);
  check(x.row_size() == words.shape[1] && std::ssize(labels) == x.rows(),
        "[vocabulary_loss] the input {} does not fit the embeddings {} and {} labels", x.shape().to_string(),
        words.shape.to_string(), labels.size());
  for (const std::int64_t label : labels)
    check(0 <= label && label < words.shape[0], "[vocabulary_loss] the label {} is not one of the {} tokens", label,
          words.shape[0]);
}

}  // namespace

std::int64_t vocabulary_block_rows(std::int64_t vocab_size) {
  return std::max(kRowUnit, kBlockLogits / vocab_size / kRowUnit * kRowUnit);
}

VocabularyLoss vocabulary_loss(Context& ctx, const Var& x, Parameter& words, Parameter& bias,
                               std::span<const std::int64_t> labels, float label_smoothing) {
  const Span span("vocabulary loss");
  check_arguments(x.value(), words, bias, labels);
  const std::int64_t rows = x.value().rows();
  VocabularyLoss result;
  double sum = 0;
  for_each_block(x.value(), words, ctx.acquire(bias).data<float>(), &ctx, [&](const Block& block) {
    sum += sum_of_losses(block, labels, label_smoothing, false);
    if (ctx.tape == nullptr) append_most_likely(block, result.predicted);
  });
  Tensor loss(Shape{}, DType::f32);
  *loss.data<float>() = rows == 0 ? 0.0f : static_cast<float>(sum / static_cast<double>(rows));

  const auto backward = [x, &words, &bias, rows, kept = std::vector(labels.begin(), labels.end()),
                         label_smoothing](const Tensor& dloss) {
    const Span backward_span("vocabulary loss backward");
    const GradTarget dx = x.needs_grad() ? grad_target(x) : GradTarget();
    for_each_block(x.value(), words, acquire(bias).data<float>(), nullptr, [&](const Block& block) {
      sum_of_losses(block, kept, label_smoothing, true);
      const float share = static_cast<float>(block.rows()) / static_cast<float>(rows);
      const Tensor& gradient = block.logits;
      kernels::scale(DType::f32, gradient.size(), dloss.item() * share, gradient.raw(), gradient.raw());
      const Tensor dlogits = in_dtype(gradient, x.value().type());
      const bool wants_dx = dx.tensor.defined();
      linear_backward(dlogits, block.x, {&words, &bias},
                      wants_dx ? GradTarget{dx.tensor.slice(block.begin, block.end), dx.accumulate} : GradTarget());
    });
  };
  result.loss = ctx.record({"vocabulary loss", {x}, {&words, &bias}}, loss, backward);
  return result;
}

}  // namespace hearth::ops
