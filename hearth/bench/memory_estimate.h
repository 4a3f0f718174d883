#pragma once

#include "hearth/base/dtype.h"
#include "hearth/nn/encoder.h"

namespace hearth::bench {

struct MemoryPlan {
  std::int64_t batch = 12, seq = 384;
  DType dtype = DType::bf16;
  bool gradient_checkpointing = false;
  std::int64_t shards = 1;   // processes that divide the optimizer's state among them
  std::int64_t threads = 1;  // of a process
};

// Bytes that a process of a training run with AdamW holds at its peak, counted from the sizes alone.
struct MemoryEstimate {
  double weights = 0;      // f32
  double copies = 0;       // of the weights that products read, in a 16-bit format
  double gradients = 0;    // f32
  double optimizer = 0;    // two f32 moments a weight
  double activations = 0;  // what forward keeps, and what the first steps of backward add to it
  double work_space = 0;   // of the threads
  double program = 0;

  double total() const { return weights + copies + gradients + optimizer + activations + work_space + program; }
};

// Of question answering, as bench_train runs it.
MemoryEstimate estimate_memory(const nn::EncoderConfig& config, const MemoryPlan& plan);

}  // namespace hearth::bench
