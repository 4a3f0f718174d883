#pragma once

#include <cstdint>

#include "hearth/base/rounding.h"
#include "hearth/cpu/memory.h"
#include "hearth/kernels/simd/scratch.h"

namespace hearth::kernels {

// Cuts one buffer into aligned pieces. Without a buffer it only counts the floats needed.
class BufferCutter {
 public:
  BufferCutter() = default;
  explicit BufferCutter(float* buffer) : buffer_(buffer) {}

  float* floats(std::int64_t count) {
    constexpr auto kLine = static_cast<std::int64_t>(cpu::kAlignment / sizeof(float));
    float* piece = buffer_ == nullptr ? nullptr : buffer_ + used_;
    used_ += round_up(count, kLine);
    return piece;
  }
  std::int64_t used() const { return used_; }

 private:
  float* buffer_ = nullptr;
  std::int64_t used_ = 0;
};

// Constructs Buffers(cutter, sizes...) in this thread's scratch: once to count, once to place.
template <class Buffers, class... Sizes>
Buffers attention_scratch(Sizes... sizes) {
  BufferCutter counter;
  Buffers(counter, sizes...);
  BufferCutter cutter(scratch<float, Scratch::attention>(counter.used()));
  return Buffers(cutter, sizes...);
}

}  // namespace hearth::kernels
