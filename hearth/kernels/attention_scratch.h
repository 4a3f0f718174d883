#pragma once

#include <cstdint>

#include "hearth/cpu/memory.h"
#include "hearth/kernels/scratch.h"

namespace hearth::kernels {

// Cuts one buffer into aligned pieces. Without a buffer it only counts the floats needed.
class Carver {
 public:
  Carver() = default;
  explicit Carver(float* buffer) : buffer_(buffer) {}

  float* floats(std::int64_t count) {
    constexpr auto kLine = static_cast<std::int64_t>(cpu::kAlignment / sizeof(float));
    float* piece = buffer_ == nullptr ? nullptr : buffer_ + used_;
    used_ += (count + kLine - 1) / kLine * kLine;
    return piece;
  }
  std::int64_t used() const { return used_; }

 private:
  float* buffer_ = nullptr;
  std::int64_t used_ = 0;
};

// Constructs Buffers(carver, sizes...) in this thread's scratch: once to count, once to place.
template <class Buffers, class... Sizes>
Buffers attention_scratch(Sizes... sizes) {
  Carver counter;
  Buffers(counter, sizes...);
  Carver carver(scratch<float, Scratch::attention>(counter.used()));
  return Buffers(carver, sizes...);
}

}  // namespace hearth::kernels
