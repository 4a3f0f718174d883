#pragma once

#include "hearth/base/dtype.h"
#include "hearth/nn/encoder.h"

namespace hearth::bench {

struct MemoryPlan {
  std::int64_t batch = 12, seq = 384;
  DType dtype = DType::bf16;
  bool gradient_checkpointing = false;
  std::int64_t shards = 1;   // processes among which the optimizer state is sharded
  std::int64_t threads = 1;  // per process
};

// Peak memory in bytes of one process that trains with AdamW, counted from the sizes alone.
struct MemoryEstimate {
  double weights = 0;      // f32
  double copies = 0;       // 16-bit copies of the weights that matmuls read
  double gradients = 0;    // f32
  double optimizer = 0;    // two f32 moments per weight
  double activations = 0;  // kept by forward, plus what the first part of backward adds
  double work_space = 0;   // scratch of the threads
  double program = 0;

  double total() const { return weights + copies + gradients + optimizer + activations + work_space + program; }
};

// For question answering, as bench_train runs it.
MemoryEstimate estimate_memory(const nn::TransformerConfig& config, const MemoryPlan& plan);

}  // namespace hearth::bench
