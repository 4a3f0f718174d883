#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/autograd/tape.h"
#include "hearth/base/api.h"
#include "hearth/base/dtype.h"
#include "hearth/kernels/rows/dropout.h"
#include "hearth/kernels/rows/sequences.h"
#include "hearth/ops/checks.h"
#include "hearth/ops/finite_check.h"
#include "hearth/tensor/batch.h"

namespace hearth::ops {

HEARTH_API kernels::Sequences tokens_of(const Batch& batch);  // of arrays with one row per token

// How a classification loss weighs rows and labels.
struct LossOptions {
  float label_smoothing = 0;
  std::vector<float> class_weights = {};  // by label; empty: all the same
  float focal_gamma = 0;                  // above 0: rows that the model gets right count less (Lin et al., 2017)
};

// The settings of one forward pass, passed to every layer and op.
struct HEARTH_API Context {
  Tape* tape = nullptr;        // null: nothing is kept for a backward pass
  DType compute = DType::f32;  // the dtype of activations and matmuls; ops/precision.h has the table
  bool training = false;       // dropout is on
  std::uint64_t seed = 0, step = 0;
  BatchPtr batch = {};                    // of the pass; begin() sets it and the two below
  kernels::Sequences sequences = {};      // how the packed row of tokens is cut into sequences
  kernels::Sequences sequence_rows = {};  // the same sequences with one row each
  bool gradient_checkpointing = false;    // layers keep their inputs alone and run again in the backward pass
  LossOptions loss = {};
  FiniteCheck* finite_check = nullptr;  // looks at what every op computes; null: nothing is looked at

  // Starts a pass over a batch. The context and the tape keep the batch: forward and backward read its sequences.
  void begin(const BatchPtr& next);

  // How the rows of x, one per token or one per sequence, belong to sequences; an Error names the op if x has neither.
  const kernels::Sequences& rows_of(std::string_view op, const Tensor& x) const;
  // An Error names the op if x does not have one row per token.
  void check_tokens(std::string_view op, const Tensor& x) const;

  // The one way from a parameter to an op: its values in the form that the op reads. The tape notes the use.
  const Tensor& acquire(Parameter& parameter, WeightForm form = {}) const {
    if (needs_grad(parameter)) tape->use(parameter);
    return hearth::acquire(parameter, form);
  }
  // The same for an embedding, of which only these rows are read.
  const Tensor& acquire_rows(Parameter& embedding, std::span<const std::int32_t> rows) const {
    if (needs_grad(embedding)) tape->use(embedding, rows);
    return hearth::acquire(embedding);
  }

  // Whether backward will need a gradient of the value or parameter. An op is recorded if that holds for something
  // that it reads.
  bool needs_grad(const Var& x) const { return tape != nullptr && x.defined() && x.needs_grad(); }
  bool needs_grad(const Parameter& parameter) const { return tape != nullptr && parameter.trainable; }
  bool needs_grad(const Op& op) const {
    return std::ranges::any_of(op.inputs, [&](const Var& x) { return needs_grad(x); }) ||
           std::ranges::any_of(op.parameters, [&](const Parameter* p) { return p != nullptr && needs_grad(*p); });
  }

  // The end of every op: its output, recorded with its backward where that will be needed.
  template <class Backward>
  Var record(const Op& op, const Tensor& output, Backward backward) const {
    if (finite_check != nullptr) finite_check->look_at(op, output);
    if (!needs_grad(op)) return Var(output);
    for (const Var& x : op.inputs) tape->check_input(op.name, x);
    if (finite_check == nullptr) return tape->record(output, std::move(backward));
    return tape->record(output, finite_check->checked(op, std::move(backward)));
  }

  // `site` numbers the dropout layers of a model.
  kernels::Dropout dropout(float p, std::uint32_t site) const {
    if (!training || p == 0) return {};
    check_dropout_rate(p);
    return {p, philox_key(seed, step, site)};
  }
};

// A pass that `tape` records, with dropout on. `step` numbers the passes of a run: each has dropout of its own.
HEARTH_API Context training_context(Tape& tape, std::uint64_t step = 0, std::uint64_t seed = 42);

}  // namespace hearth::ops
