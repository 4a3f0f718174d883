#pragma once

#include "hearth/base/dtype.h"
#include "hearth/models/pretrained.h"

namespace hearth::models {

struct MemoryPlan {
  std::int64_t tokens = 12 * 384;  // per batch and process
  std::int64_t longest = 384;      // tokens of its longest sequence
  DType dtype = DType::bf16;
  bool gradient_checkpointing = false;
  int moment_bytes = 8;      // that the optimizer keeps per trainable weight
  std::int64_t shards = 1;   // processes among which the optimizer state is sharded
  std::int64_t threads = 1;  // per process
};

// Peak memory in bytes of one process that trains a model, counted from the sizes alone.
struct MemoryEstimate {
  double weights = 0;      // f32; frozen ones in the dtype that config.json names
  double copies = 0;       // copies of the weights in the dtype and layout that matmuls read
  double gradients = 0;    // f32, of the trainable weights
  double optimizer = 0;    // moments of the trainable weights
  double activations = 0;  // kept by forward, plus what the first part of backward adds
  double work_space = 0;   // scratch of matmuls and of the threads
  double program = 0;

  double total() const { return weights + copies + gradients + optimizer + activations + work_space + program; }
};

// The model needs no memory for its weights yet: see outline().
MemoryEstimate estimate_memory(const Pretrained& model, const MemoryPlan& plan);

}  // namespace hearth::models
