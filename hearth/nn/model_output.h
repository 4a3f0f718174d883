#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/ops/context.h"
#include "hearth/tensor/batch.h"

namespace hearth::nn {

struct HEARTH_API ModelOutput {
  ModelOutput() = default;
  // The usual case: one array of logits, named "logits". The loss may be undefined.
  ModelOutput(Var loss_of_batch, Var logits_of_batch)
      : loss(std::move(loss_of_batch)), logits{{"logits", std::move(logits_of_batch)}} {}

  Var loss;                                         // one number; undefined if the batch has no labels
  std::vector<std::pair<std::string, Var>> logits;  // f32, named as transformers names them

  const Tensor& logits_named(std::string_view name) const;  // an Error if there are none
};

// Logits (rows, classes) with the cross entropy against the batch's "labels", one per row, where it has them. The
// label -100 does not count; Context::loss weighs rows and labels.
HEARTH_API ModelOutput classified(ops::Context& ctx, const Batch& batch, const Var& logits);

}  // namespace hearth::nn
