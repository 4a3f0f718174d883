#include "hearth/ops/checkpoint.h"

#include "hearth/ops/grad.h"

namespace hearth::ops {

Var checkpointed(Context& ctx, const Var& x, std::function<Var(Context&, const Var&)> body) {
  if (ctx.tape == nullptr) return body(ctx, x);
  Tensor y;
  {
    const Tape::Pause pause(ctx.tape);
    y = body(ctx, x).value();
  }
  return ctx.tape->record(y, [x, ctx, body = std::move(body)](Tensor dy) {
    Tape inner;
    Context again = ctx;
    again.tape = &inner;
    const Var input(x.value(), true);
    const Var output = body(again, input);
    // The outer tape reports the parameters as ready: it noted their uses when the body first ran.
    inner.backward_from(output, std::move(dy));
    if (input.grad().defined()) add_grad(x, std::move(input.grad()));
  });
}

}  // namespace hearth::ops
