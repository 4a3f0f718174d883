#include "hearth/models/heads.h"

#include "hearth/ops/dropout.h"
#include "hearth/ops/loss.h"

namespace hearth::models {
namespace {

Var column(const Tensor& matrix, std::int64_t index) {
  Tensor column({matrix.rows()}, DType::f32);
  for (std::int64_t row = 0; row < matrix.rows(); ++row)
    column.data<float>()[row] = matrix.data<float>()[row * matrix.row_size() + index];
  return Var(column);
}

}  // namespace

SpanHead::SpanHead(const nn::Cursor& root, const nn::EncoderConfig& config, float dropout)
    : outputs_(root / "qa_outputs", config.hidden, 2, config.init_range),
      dropout_(dropout),
      site_(root.dropout_site()) {}

nn::ModelOutput SpanHead::operator()(ops::Context& ctx, const Batch& batch, const Var& hidden) const {
  const Var kept = ops::dropout(ctx, hidden, dropout_, site_);
  const Var logits = outputs_.logits(ctx, kept);  // (T, 2)
  nn::ModelOutput output;
  output.logits = {{"start_logits", column(logits.value(), 0)}, {"end_logits", column(logits.value(), 1)}};
  const auto starts = batch.labels.find("start_positions"), ends = batch.labels.find("end_positions");
  if (starts != batch.labels.end() && ends != batch.labels.end())
    output.loss = ops::span_loss(ctx, logits, starts->second, ends->second);
  return output;
}

nn::ModelOutput classify(ops::Context& ctx, const Batch& batch, const Var& logits, float label_smoothing) {
  nn::ModelOutput output{{}, {{"logits", logits}}};
  if (const auto labels = batch.labels.find("labels"); labels != batch.labels.end()) {
    check(logits.value().row_size() > 1,
          "a model with one label is a regression model, for which there is no loss; use at least two labels");
    output.loss = ops::cross_entropy(ctx, logits, labels->second, -100, label_smoothing);
  }
  return output;
}

}  // namespace hearth::models
