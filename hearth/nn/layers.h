#pragma once

#include "hearth/kernels/rows/activation.h"
#include "hearth/nn/parameter_scope.h"
#include "hearth/ops/layer_norm.h"
#include "hearth/ops/linear.h"
#include "hearth/ops/precision.h"

namespace hearth::nn {

class Linear {
 public:
  Linear(const ParameterScope& at, std::int64_t inputs, std::int64_t outputs, float init_range);

  Var operator()(ops::Context& ctx, const Var& x, kernels::Activation activation = kernels::Activation::none) const {
    return ops::linear(ctx, x, *weight_, bias_, activation);
  }
  bool trains() const { return weight_->trainable; }
  Var logits(ops::Context& ctx, const Var& x) const {
    return ops::linear(ctx, x, *weight_, bias_, kernels::Activation::none, value_dtype(ops::Value::logit, ctx.compute));
  }

 private:
  Parameter *weight_, *bias_;
};

class LayerNorm {
 public:
  LayerNorm(const ParameterScope& at, std::int64_t size, float eps);

  Var operator()(ops::Context& ctx, const Var& x) const { return ops::layer_norm(ctx, x, *gamma_, *beta_, eps_); }
  // LayerNorm(residual + dropout(x))
  Var operator()(ops::Context& ctx, const Var& x, const Var& residual, float dropout, std::uint32_t site) const {
    return ops::layer_norm(ctx, x, residual, *gamma_, *beta_, eps_, dropout, site);
  }

 private:
  Parameter *gamma_, *beta_;
  float eps_;
};

}  // namespace hearth::nn
