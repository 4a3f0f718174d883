#pragma once

#include "hearth/ops/context.h"

namespace hearth::ops {

// While it lives, the ops of a pass compute in `dtype`, as torch.autocast makes them: activations and matmuls have this
// dtype, logits, losses, statistics and master weights stay f32 (ops/precision.h has the table).
class Autocast {
 public:
  Autocast(Context& ctx, DType dtype) : ctx_(ctx), before_(ctx.compute) { ctx.compute = dtype; }
  ~Autocast() { ctx_.compute = before_; }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  Context& ctx_;
  DType before_;
};

}  // namespace hearth::ops
