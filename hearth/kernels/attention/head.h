#pragma once

#include <cstdint>

#include "hearth/kernels/attention/attention.h"

namespace hearth::kernels {

// One head of one sequence: where its rows lie in the tensors of AttentionArgs.
struct AttentionHead {
  const AttentionArgs& args;
  std::int64_t sequence, index;
  std::int64_t start = args.sequences.starts[sequence];
  std::int64_t length = args.sequences.starts[sequence + 1] - start;
  std::int64_t keys = args.sequences.key_counts[sequence];
  std::int64_t dim = args.head_dim;
  std::int64_t width = args.heads * args.head_dim;  // a row of out and dout

  template <class T>
  const T* row(const void* data, std::int64_t position, std::int64_t stride) const {
    return static_cast<const T*>(data) + (start + position) * stride + index * dim;
  }
  template <class T>
  T* row(void* data, std::int64_t position, std::int64_t stride) const {
    return static_cast<T*>(data) + (start + position) * stride + index * dim;
  }
  float& lse(std::int64_t position) const { return args.lse[index * args.sequences.tokens() + start + position]; }

  std::uint32_t sample() const { return args.sequences.samples[sequence]; }
  std::uint32_t dropout_row(std::int64_t position) const {
    return static_cast<std::uint32_t>(index * kDropoutPositions + position);
  }
};

}  // namespace hearth::kernels
