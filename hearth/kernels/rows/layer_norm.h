#pragma once

#include <cstdint>

#include "hearth/base/dtype.h"
#include "hearth/kernels/rows/dropout.h"

namespace hearth::kernels {

// z = residual + dropout(x);  y = (z - mean(z)) * rstd(z) * gamma + beta, row by row over (T, cols).
// x, residual, z, y have dtype `type`; statistics and parameters are f32. Statistics are computed from z as stored.
// residual may be null; z may be x; y must be another buffer than z.
struct LayerNormArgs {
  DType type = DType::f32;
  Sequences sequences;  // tokens() is T; samples and positions feed the dropout
  std::int64_t cols = 0;
  float eps = 0;
  Dropout dropout;
  const void* x = nullptr;
  const void* residual = nullptr;
  const float *gamma = nullptr, *beta = nullptr;  // (cols)
  void *z = nullptr, *y = nullptr;
  float *mean = nullptr, *rstd = nullptr;  // (T)
};
void layer_norm_forward(const LayerNormArgs&);

// Reads z, mean, rstd, gamma, dropout of the same arguments.
struct LayerNormGradArgs {
  const void* dy = nullptr;
  void* dx = nullptr;         // overwritten: dz times dropout's mask; may be dy. Without dropout and residual it is dz
  void* dresidual = nullptr;  // dz, overwritten, or added where `accumulate_dresidual`; null: not wanted
  bool accumulate_dresidual = false;
  float *dgamma = nullptr, *dbeta = nullptr;  // (cols) f32, overwritten, or added to; null: not wanted
  bool accumulate_dgamma = false, accumulate_dbeta = false;
};
void layer_norm_backward(const LayerNormArgs&, const LayerNormGradArgs&);

}  // namespace hearth::kernels
