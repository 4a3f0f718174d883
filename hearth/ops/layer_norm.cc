#include "hearth/ops/layer_norm.h"

#include <array>
#include <memory>

#include "hearth/base/profiler.h"
#include "hearth/kernels/rows/layer_norm.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {
namespace {

// Any number of rows as one sequence.
struct OneSequence {
  std::array<std::int64_t, 2> starts;
  std::array<std::int64_t, 1> keys;
  std::array<std::uint32_t, 1> sample{};

  explicit OneSequence(std::int64_t rows) : starts{0, rows}, keys{rows} {}
  kernels::Sequences view() const { return {starts, keys, sample}; }
};

}  // namespace

Var layer_norm(Context& ctx, Var x, const Var& residual, Parameter& gamma, Parameter& beta, float eps, float dropout_p,
               std::uint32_t site) {
  const Span span("layer norm forward");
  const kernels::Dropout dropout = ctx.dropout(dropout_p, site);
  const bool differs = residual.defined() || dropout.active();  // z from x
  const Tensor z = differs && !x.is_last_holder() ? Tensor(x.value().shape(), x.value().type()) : x.value();
  check_floats("layer_norm", z);
  check_vector("layer_norm", &gamma, z.row_size());
  check_vector("layer_norm", &beta, z.row_size());
  if (residual.defined()) check_same("layer_norm", x.value(), residual.value());
  Tensor y(z.shape(), z.type()), mean({z.rows()}, DType::f32), rstd({z.rows()}, DType::f32);

  kernels::LayerNormArgs args;
  args.type = z.type();
  // Only dropout asks to which sequence a row belongs.
  const auto rows = std::make_shared<const OneSequence>(z.rows());
  args.sequences = dropout.active() ? ctx.rows_of("layer_norm", z) : rows->view();
  args.cols = z.row_size();
  args.eps = eps;
  args.dropout = dropout;
  args.x = x.value().raw();
  args.residual = residual.defined() ? residual.value().raw() : nullptr;
  args.gamma = ctx.acquire(gamma).data<float>();
  args.beta = ctx.acquire(beta).data<float>();
  args.z = z.raw();
  args.y = y.raw();
  args.mean = mean.data<float>();
  args.rstd = rstd.data<float>();
  kernels::layer_norm_forward(args);

  const Op op{"layer norm", {x, residual}, {&gamma, &beta}};
  return ctx.record(op, y,
                    [x = x.edge(), z, residual = residual.edge(), &gamma, &beta, args, rows, mean, rstd](Tensor dy) {
                      const Span backward_span("layer norm backward");
                      kernels::LayerNormGradArgs grads;
                      grads.dy = dy.raw();
                      grads.dx = dy.raw();
                      if (residual.defined() && residual.needs_grad()) {
                        const GradTarget target = grad_target(residual);
                        grads.dresidual = target.tensor.raw();
                        grads.accumulate_dresidual = target.accumulate;
                      }
                      if (gamma.trainable) {
                        const GradTarget target = grad_target(gamma);
                        grads.dgamma = target.tensor.data<float>();
                        grads.accumulate_dgamma = target.accumulate;
                      }
                      if (beta.trainable) {
                        const GradTarget target = grad_target(beta);
                        grads.dbeta = target.tensor.data<float>();
                        grads.accumulate_dbeta = target.accumulate;
                      }
                      kernels::layer_norm_backward(args, grads);
                      if (x.needs_grad()) add_grad(x, std::move(dy));
                    });
}

}  // namespace hearth::ops
