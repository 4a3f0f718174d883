#pragma once

#include <algorithm>
#include <cstdint>

#include "hearth/kernels/rows/sequences.h"

namespace hearth::kernels {

// Walks over the tokens of Sequences one by one and knows the sample and position of each.
class TokenCursor {
 public:
  TokenCursor(const Sequences& sequences, std::int64_t token) : sequences_(sequences), token_(token) {
    const auto after = std::upper_bound(sequences.starts.begin(), sequences.starts.end(), token);
    sequence_ = static_cast<std::size_t>(after - sequences.starts.begin()) - 1;
  }

  std::uint32_t sample() const { return sequences_.samples[sequence_]; }
  std::uint32_t position() const { return static_cast<std::uint32_t>(token_ - sequences_.starts[sequence_]); }

  void next() {
    ++token_;
    while (sequence_ + 1 < sequences_.starts.size() && sequences_.starts[sequence_ + 1] <= token_) ++sequence_;
  }

 private:
  const Sequences& sequences_;
  std::int64_t token_;
  std::size_t sequence_;
};

}  // namespace hearth::kernels
