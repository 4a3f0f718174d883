#include "hearth/nn/model_output.h"

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/ops/loss.h"

namespace hearth::nn {

const Tensor& ModelOutput::logits_named(std::string_view name) const {
  const auto found = std::ranges::find(logits, name, &std::pair<std::string, Var>::first);
  check(found != logits.end(), "[ModelOutput] the model's head has no {}", name);
  return found->second.value();
}

ModelOutput classified(ops::Context& ctx, const Batch& batch, const Var& logits) {
  const auto labels = batch.labels.find("labels");
  if (labels == batch.labels.end()) return {Var(), logits};
  return {ops::cross_entropy(ctx, logits, labels->second,
                             {.label_smoothing = ctx.loss.label_smoothing,
                              .class_weights = ctx.loss.class_weights,
                              .focal_gamma = ctx.loss.focal_gamma}),
          logits};
}

}  // namespace hearth::nn
