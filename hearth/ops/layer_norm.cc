#include "hearth/ops/layer_norm.h"

#include "hearth/base/profiler.h"
#include "hearth/kernels/layer_norm.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {

Var layer_norm(Context& ctx, const Var& x, const Var& residual, Parameter& gamma, Parameter& beta, float eps,
               float dropout_p, std::uint32_t site) {
  const Span span("layer norm forward");
  const Tensor& z = x.value();
  check(z.row_size() == gamma.shape.size(), "[layer_norm] rows of {} elements, {} has {}", z.row_size(),
        gamma.parts.front().name, gamma.shape.size());
  check_tokens(ctx, "layer_norm", z.rows());
  Tensor y(z.shape(), z.type()), mean({z.rows()}, DType::f32), rstd({z.rows()}, DType::f32);

  kernels::LayerNormArgs args;
  args.type = z.type();
  args.sequences = ctx.sequences;
  args.cols = z.row_size();
  args.eps = eps;
  args.dropout = ctx.dropout(dropout_p, site);
  args.x = z.raw();
  args.residual = residual.defined() ? residual.value().raw() : nullptr;
  args.gamma = gamma.master.data<float>();
  args.beta = beta.master.data<float>();
  args.z = z.raw();
  args.y = y.raw();
  args.mean = mean.data<float>();
  args.rstd = rstd.data<float>();
  if (ctx.tape != nullptr) {
    ctx.tape->use(gamma);
    ctx.tape->use(beta);
  }
  kernels::layer_norm_forward(args);
  if (ctx.tape == nullptr) return Var(y);

  return ctx.tape->record(y, [x, residual, &gamma, &beta, args, mean, rstd](Tensor dy) {
    const Span backward_span("layer norm backward");
    kernels::LayerNormGradArgs grads;
    grads.dy = dy.raw();
    grads.dx = dy.raw();
    if (residual.defined() && residual.needs_grad()) {
      const GradTarget target = grad_target(residual);
      grads.dresidual = target.tensor.raw();
      grads.accumulate_dresidual = target.accumulate;
    }
    const GradTarget dgamma = grad_target(gamma), dbeta = grad_target(beta);
    grads.dgamma = dgamma.tensor.data<float>();
    grads.dbeta = dbeta.tensor.data<float>();
    grads.accumulate_parameters = dgamma.accumulate;
    kernels::layer_norm_backward(args, grads);
    add_grad(x, std::move(dy));
  });
}

}  // namespace hearth::ops
