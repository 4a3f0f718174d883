#pragma once

#include <span>

#include "hearth/base/api.h"
#include "hearth/kernels/rows/activation.h"
#include "hearth/nn/parameter_scope.h"
#include "hearth/ops/dropout.h"
#include "hearth/ops/embedding.h"
#include "hearth/ops/layer_norm.h"
#include "hearth/ops/linear.h"
#include "hearth/ops/precision.h"

// Layers: each has its parameters in the store of a model, below the scope that it is given, and is called with the
// context of a pass.
namespace hearth::nn {

struct LinearOptions {
  bool bias = true;
  float init_range = 0.02f;  // the deviation of the initial weights
};

// y = x W^T + b, then the activation if one is given.
class HEARTH_API Linear {
 public:
  Linear(const ParameterScope& at, std::int64_t inputs, std::int64_t outputs, const LinearOptions& options = {});

  Var operator()(ops::Context& ctx, const Var& x, kernels::Activation activation = kernels::Activation::none) const {
    return ops::linear(ctx, x, *weight_, bias_, activation);
  }
  // The same without an activation and in fp32, as losses read it.
  Var logits(ops::Context& ctx, const Var& x) const {
    return ops::linear(ctx, x, *weight_, bias_, kernels::Activation::none, value_dtype(ops::Value::logit, ctx.compute));
  }
  bool trains() const { return weight_->trainable; }
  ops::LinearParameters parameters() const { return {weight_, bias_}; }

 private:
  Parameter *weight_, *bias_;  // (outputs, inputs), (outputs) or null
};

// Rows of a table, by their ids. The row `padding_id` is initialised as zero and gets no gradient; -1: there is none.
class HEARTH_API Embedding {
 public:
  Embedding(const ParameterScope& at, std::int64_t rows, std::int64_t size, std::int32_t padding_id = -1,
            float init_range = 0.02f);

  Var operator()(ops::Context& ctx, std::span<const std::int32_t> ids) const {  // (T) -> (T, size)
    return ops::embedding_sum(ctx, {lookup(ids)});
  }
  // For ops::embedding_sum, which adds several embeddings in one pass.
  ops::Lookup lookup(std::span<const std::int32_t> ids) const {
    return {weight_, {ids.begin(), ids.end()}, padding_id_};
  }
  Parameter& weight() const { return *weight_; }  // (rows, size)

 private:
  Parameter* weight_;
  std::int32_t padding_id_;
};

// Zeroes elements at rate p, in training only.
class HEARTH_API Dropout {
 public:
  Dropout(const ParameterScope& at, float p);
  Var operator()(ops::Context& ctx, const Var& x) const { return ops::dropout(ctx, x, p_, site_); }

 private:
  float p_;
  std::uint32_t site_;
};

class HEARTH_API LayerNorm {
 public:
  LayerNorm(const ParameterScope& at, std::int64_t size, float eps = 1e-5f);

  Var operator()(ops::Context& ctx, const Var& x) const { return ops::layer_norm(ctx, x, *gamma_, *beta_, eps_); }
  // LayerNorm(residual + dropout(x)). std::move(x) saves the memory of the sum.
  Var operator()(ops::Context& ctx, Var x, const Var& residual, float dropout = 0, std::uint32_t site = 0) const {
    return ops::layer_norm(ctx, std::move(x), residual, *gamma_, *beta_, eps_, dropout, site);
  }

 private:
  Parameter *gamma_, *beta_;
  float eps_;
};

}  // namespace hearth::nn
