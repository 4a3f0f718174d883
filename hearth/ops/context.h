#pragma once

#include <cstdint>
#include <string_view>

#include "hearth/autograd/tape.h"
#include "hearth/base/dtype.h"
#include "hearth/base/error.h"
#include "hearth/kernels/dropout.h"
#include "hearth/kernels/sequences.h"

namespace hearth::ops {

// The settings of one forward pass, passed to every layer and op.
struct Context {
  Tape* tape = nullptr;        // null: nothing is kept for a backward pass
  DType compute = DType::f32;  // the dtype of activations and matmuls; ops/precision.h has the table
  bool training = false;       // dropout is on
  std::uint64_t seed = 0, step = 0;
  kernels::Sequences sequences = {};    // how the packed row of tokens is cut into sequences
  bool gradient_checkpointing = false;  // layers keep their inputs alone and run again in the backward pass
  float label_smoothing = 0;            // of classification losses

  // The same pass for tensors whose rows are cut in another way: one row per sequence, say.
  Context over_rows(const kernels::Sequences& rows) const {
    Context other = *this;
    other.sequences = rows;
    return other;
  }

  // `site` numbers the dropout layers of a model.
  kernels::Dropout dropout(float p, std::uint32_t site) const {
    if (!training || p <= 0) return {};
    return {p, philox_key(seed, step, site)};
  }
};

// Kernels walk over the sequences and would read past the end of a tensor with fewer rows.
inline void check_tokens(const Context& ctx, std::string_view op, std::int64_t rows) {
  check(ctx.sequences.tokens() == rows, "[{}] the input has {} rows, but the sequences have {} tokens", op, rows,
        ctx.sequences.tokens());
}

}  // namespace hearth::ops
