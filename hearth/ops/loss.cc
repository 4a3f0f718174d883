#include "hearth/ops/loss.h"

#include <cmath>

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {
namespace {

// The gradient was computed together with the loss; backward only scales it.
Var scalar_loss(Context& ctx, const Var& logits, float value, Tensor dlogits) {
  Tensor loss(Shape{}, DType::f32);
  *loss.data<float>() = value;
  return ctx.record({"loss", {logits}}, loss, [logits = logits.edge(), dlogits](const Tensor& dloss) {
    kernels::scale(DType::f32, dlogits.size(), dloss.item(), dlogits.raw(), dlogits.raw());
    add_grad(logits, dlogits);
  });
}

float* gradient_buffer(const Context& ctx, const Var& logits, Tensor& dlogits) {
  if (!ctx.needs_grad(logits)) return nullptr;
  dlogits = Tensor(logits.value().shape(), DType::f32);
  return dlogits.data<float>();
}

void check_weights(std::string_view op, std::span<const float> weights, std::int64_t classes) {
  check(weights.empty() || static_cast<std::int64_t>(weights.size()) == classes, "[{}] {} class weights for {} classes",
        op, weights.size(), classes);
  for (const float weight : weights)
    check(weight >= 0 && std::isfinite(weight), "[{}] the class weight {} is negative or not finite", op, weight);
}

void check_gamma(std::string_view op, float gamma) {
  check(gamma >= 0 && std::isfinite(gamma), "[{}] focal_gamma {} is negative or not finite", op, gamma);
}

void check_logits(std::string_view op, const Tensor& logits) {
  check(logits.type() == DType::f32,
        "[{}] the logits {} have dtype {}, but a loss is computed in fp32: use Linear::logits, or ops::cast", op,
        logits.shape().to_string(), name_of(logits.type()));
}

void check_labels(std::span<const std::int64_t> labels, const Tensor& logits, std::int64_t ignored) {
  const std::int64_t classes = logits.row_size();
  check(static_cast<std::int64_t>(labels.size()) == logits.rows(), "[cross_entropy] {} labels for logits {}",
        labels.size(), logits.shape().to_string());
  for (const std::int64_t label : labels)
    check(label == ignored || (0 <= label && label < classes),
          "[cross_entropy] the label {} is not one of the {} classes", label, classes);
}

void check_targets(std::string_view op, std::span<const float> targets, const Tensor& logits) {
  check_logits(op, logits);
  check(static_cast<std::int64_t>(targets.size()) == logits.size(), "[{}] {} targets for logits {}", op, targets.size(),
        logits.shape().to_string());
}

}  // namespace

Var cross_entropy(Context& ctx, const Var& logits, std::span<const std::int64_t> labels,
                  const CrossEntropyOptions& options) {
  const Span span("loss");
  const std::int64_t rows = logits.value().rows(), classes = logits.value().row_size();
  check_logits("cross_entropy", logits.value());
  check_labels(labels, logits.value(), options.ignore_label);
  check_weights("cross_entropy", options.class_weights, classes);
  check_gamma("cross_entropy", options.focal_gamma);
  check(options.focal_gamma == 0 || options.label_smoothing == 0,
        "[cross_entropy] focal_gamma {} cannot be combined with label_smoothing {}; set one of them to 0",
        options.focal_gamma, options.label_smoothing);
  Tensor dlogits;
  float* gradient = gradient_buffer(ctx, logits, dlogits);
  const float loss =
      kernels::cross_entropy(rows, classes, logits.value().data<float>(), labels.data(), options, gradient);
  return scalar_loss(ctx, logits, loss, dlogits);
}

Var binary_cross_entropy(Context& ctx, const Var& logits, std::span<const float> targets,
                         const BinaryCrossEntropyOptions& options) {
  const Span span("loss");
  const std::int64_t rows = logits.value().rows(), labels = logits.value().row_size();
  check_targets("binary_cross_entropy", targets, logits.value());
  for (const float target : targets)
    check(0 <= target && target <= 1, "[binary_cross_entropy] the target {} is not between 0 and 1", target);
  check_weights("binary_cross_entropy", options.class_weights, labels);
  check_gamma("binary_cross_entropy", options.focal_gamma);
  Tensor dlogits;
  float* gradient = gradient_buffer(ctx, logits, dlogits);
  const float loss =
      kernels::binary_cross_entropy(rows, labels, logits.value().data<float>(), targets.data(), options, gradient);
  return scalar_loss(ctx, logits, loss, dlogits);
}

Var mean_squared_error(Context& ctx, const Var& logits, std::span<const float> targets) {
  const Span span("loss");
  check_targets("mean_squared_error", targets, logits.value());
  Tensor dlogits;
  float* gradient = gradient_buffer(ctx, logits, dlogits);
  const float loss =
      kernels::mean_squared_error(logits.value().size(), logits.value().data<float>(), targets.data(), gradient);
  return scalar_loss(ctx, logits, loss, dlogits);
}

Var span_loss(Context& ctx, const Var& logits, std::span<const std::int64_t> starts,
              std::span<const std::int64_t> ends) {
  const Span span("loss");
  const auto count = static_cast<std::size_t>(ctx.sequences.count());
  check(starts.size() == count && ends.size() == count, "[span_loss] {} starts and {} ends for {} sequences",
        starts.size(), ends.size(), count);
  check_logits("span_loss", logits.value());
  ctx.check_tokens("span_loss", logits.value());
  check(logits.value().row_size() == 2, "[span_loss] the logits {} do not have two columns, start and end",
        logits.value().shape().to_string());
  Tensor dlogits;
  float* gradient = gradient_buffer(ctx, logits, dlogits);
  const float loss =
      kernels::span_loss(ctx.sequences, logits.value().data<float>(), starts.data(), ends.data(), gradient);
  return scalar_loss(ctx, logits, loss, dlogits);
}

}  // namespace hearth::ops
