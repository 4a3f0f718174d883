#include "hearth/ops/gradient_checkpointing.h"

#include "hearth/base/check.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {

Var checkpointed(Context& ctx, const Var& x, std::function<Var(Context&, const Var&)> body) {
  check(body != nullptr, "[checkpointed] there is no body");
  if (ctx.tape == nullptr) return body(ctx, x);
  const std::size_t uses_before = ctx.tape->use_count();
  Tensor y;
  {
    const Tape::Pause pause(ctx.tape);
    y = body(ctx, x).value();
  }
  const bool uses_trainable = ctx.tape->use_count() > uses_before;
  if (!uses_trainable && !ctx.needs_grad(x)) return Var(y);
  return ctx.tape->record(y, [x, ctx, body = std::move(body)](Tensor dy) {
    Tape inner;
    Context again = ctx;
    again.tape = &inner;
    const Var input = x.defined() ? Var(x.value(), x.needs_grad()) : Var();
    const GradientEdge output = body(again, input).edge();
    // The outer tape reports the parameters as ready: it noted their uses when the body first ran.
    inner.backward_from(output, std::move(dy));
    if (input.defined() && input.grad().defined()) add_grad(x, std::move(input.grad()));
  });
}

Var checkpointed(Context& ctx, const std::function<Var(Context&)>& body) {
  check(body != nullptr, "[checkpointed] there is no body");
  return checkpointed(ctx, Var(), [body](Context& again, const Var&) { return body(again); });
}

}  // namespace hearth::ops
