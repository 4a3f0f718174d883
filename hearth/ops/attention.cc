#include "hearth/ops/attention.h"

#include <cmath>

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/kernels/attention/attention.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {
namespace {

std::byte* column(const Tensor& x, std::int64_t index) {
  return static_cast<std::byte*>(x.raw()) + static_cast<std::size_t>(index) * size_of(x.type());
}

}  // namespace

Var attention(Context& ctx, const Var& qkv, std::int64_t heads, float dropout_p, std::uint32_t site) {
  const Span span("attention forward");
  const std::int64_t tokens = qkv.value().rows(), hidden = qkv.value().row_size() / 3;
  check_floats("attention", qkv.value());
  check(heads > 0 && hidden > 0 && qkv.value().row_size() == 3 * hidden && hidden % heads == 0,
        "[attention] the rows of {} do not hold queries, keys and values of {} heads", qkv.value().shape().to_string(),
        heads);
  ctx.check_tokens("attention", qkv.value());
  Tensor out({tokens, hidden}, qkv.value().type());
  Tensor lse({heads, tokens}, DType::f32);

  kernels::AttentionArgs args;
  args.type = out.type();
  args.sequences = ctx.sequences;
  args.heads = heads;
  args.head_dim = hidden / heads;
  args.stride = 3 * hidden;
  args.q = column(qkv.value(), 0);
  args.k = column(qkv.value(), hidden);
  args.v = column(qkv.value(), 2 * hidden);
  args.scale = 1.0f / std::sqrt(static_cast<float>(args.head_dim));
  args.dropout = ctx.dropout(dropout_p, site);
  args.out = out.raw();
  args.lse = lse.data<float>();
  const Op op{"attention", {qkv}};
  Tensor masks;  // what forward keeps of dropout, if anything
  if (ctx.needs_grad(op))
    if (const std::int64_t bytes = kernels::attention_mask_bytes(args); bytes > 0) {
      masks = Tensor({bytes}, DType::u8);
      args.masks = static_cast<std::uint16_t*>(masks.raw());
    }
  kernels::attention_forward(args);

  return ctx.record(op, out, [qkv, args, out, lse, masks, hidden](Tensor dout) {
    const Span backward_span("attention backward");
    Tensor dqkv(qkv.value().shape(), qkv.value().type());
    kernels::attention_backward(
        args, {dout.raw(), column(dqkv, 0), column(dqkv, hidden), column(dqkv, 2 * hidden), args.stride});
    add_grad(qkv, std::move(dqkv));
  });
}

}  // namespace hearth::ops
