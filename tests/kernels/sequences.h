#pragma once

#include <cstdint>
#include <vector>

#include "hearth/kernels/rows/sequences.h"

namespace hearth::kernels {

// Sequences of the given lengths, all tokens keys, the samples numbered backwards from 100.
class PackedSequences {
 public:
  explicit PackedSequences(std::vector<std::int64_t> lengths) : lengths_(std::move(lengths)), starts_{0} {
    for (const std::int64_t length : lengths_) {
      starts_.push_back(starts_.back() + length);
      samples_.push_back(100 - static_cast<std::uint32_t>(samples_.size()));
    }
  }
  Sequences view() const { return {starts_, lengths_, samples_}; }

 private:
  std::vector<std::int64_t> lengths_, starts_;
  std::vector<std::uint32_t> samples_;
};

}  // namespace hearth::kernels
