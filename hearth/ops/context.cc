#include "hearth/ops/context.h"

#include "hearth/base/check.h"

namespace hearth::ops {
namespace {

std::string_view hint_of(const Context& ctx) {
  return ctx.sequences.starts.empty() ? ": forward begins with ctx.begin(batch)" : "";
}

}  // namespace

kernels::Sequences tokens_of(const Batch& batch) { return {batch.starts, batch.key_counts, batch.samples}; }

void Context::begin(const BatchPtr& next) {
  check(next != nullptr, "[Context::begin] there is no batch");
  next->check_consistent();
  batch = next;
  sequences = tokens_of(*batch);
  sequence_rows = {batch->row_starts, batch->key_counts, batch->samples};
  if (tape != nullptr) tape->keep(batch);
}

const kernels::Sequences& Context::rows_of(std::string_view op, const Tensor& x) const {
  if (x.rows() == sequences.tokens()) return sequences;
  check(x.rows() == sequence_rows.tokens(),
        "[{}] the input {} has neither a row for each of {} tokens nor one for each of {} sequences{}", op,
        x.shape().to_string(), sequences.tokens(), sequence_rows.tokens(), hint_of(*this));
  return sequence_rows;
}

void Context::check_tokens(std::string_view op, const Tensor& x) const {
  check(x.rows() == sequences.tokens(), "[{}] the input {} does not have a row for each of {} tokens{}", op,
        x.shape().to_string(), sequences.tokens(), hint_of(*this));
}

Context training_context(Tape& tape, std::uint64_t step, std::uint64_t seed) {
  Context ctx;
  ctx.tape = &tape;
  ctx.training = true;
  ctx.seed = seed;
  ctx.step = step;
  return ctx;
}

}  // namespace hearth::ops
