#include "hearth/ops/loss.h"

#include "hearth/base/profiler.h"
#include "hearth/kernels/elementwise.h"
#include "hearth/kernels/loss.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {
namespace {

// The gradient was computed together with the loss; backward only scales it.
Var scalar_loss(Context& ctx, const Var& logits, float value, Tensor dlogits) {
  Tensor loss(Shape{}, DType::f32);
  *loss.data<float>() = value;
  if (ctx.tape == nullptr) return Var(loss);
  return ctx.tape->record(loss, [logits, dlogits](const Tensor& dloss) {
    kernels::scale(DType::f32, dlogits.size(), dloss.item(), dlogits.raw());
    add_grad(logits, dlogits);
  });
}

float* gradient_buffer(const Context& ctx, const Var& logits, Tensor& dlogits) {
  if (ctx.tape == nullptr) return nullptr;
  dlogits = Tensor(logits.value().shape(), DType::f32);
  return dlogits.data<float>();
}

}  // namespace

Var cross_entropy(Context& ctx, const Var& logits, std::span<const std::int64_t> labels, std::int64_t ignore_label,
                  float label_smoothing) {
  const Span span("loss");
  const std::int64_t rows = logits.value().rows(), classes = logits.value().row_size();
  check(static_cast<std::int64_t>(labels.size()) == rows, "[cross_entropy] {} labels for {} rows", labels.size(), rows);
  for (const std::int64_t label : labels)
    check(label == ignore_label || (0 <= label && label < classes),
          "[cross_entropy] the label {} is not one of the {} classes", label, classes);
  Tensor dlogits;
  float* gradient = gradient_buffer(ctx, logits, dlogits);
  const float loss = kernels::cross_entropy(rows, classes, logits.value().data<float>(), labels.data(),
                                            {ignore_label, label_smoothing}, gradient);
  return scalar_loss(ctx, logits, loss, dlogits);
}

Var span_loss(Context& ctx, const Var& logits, std::span<const std::int64_t> starts,
              std::span<const std::int64_t> ends) {
  const Span span("loss");
  const auto count = static_cast<std::size_t>(ctx.sequences.count());
  check(starts.size() == count && ends.size() == count, "[span_loss] {} starts and {} ends for {} sequences",
        starts.size(), ends.size(), count);
  check_tokens(ctx, "span_loss", logits.value().rows());
  Tensor dlogits;
  float* gradient = gradient_buffer(ctx, logits, dlogits);
  const float loss =
      kernels::span_loss(ctx.sequences, logits.value().data<float>(), starts.data(), ends.data(), gradient);
  return scalar_loss(ctx, logits, loss, dlogits);
}

}  // namespace hearth::ops
