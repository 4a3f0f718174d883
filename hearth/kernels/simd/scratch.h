#pragma once

#include <cstddef>
#include <cstdint>

#include "hearth/cpu/memory.h"

namespace hearth::kernels {

// The owner of a scratch buffer: a kernel that calls another must not use the same slot.
enum class Scratch { gemm_tile, gemm_widen_a, gemm_widen_b, onednn, onednn_rest, attention, partial_sums };

namespace detail {

class GrowingBuffer {
 public:
  ~GrowingBuffer() {
    if (data_ != nullptr) cpu::pool_free(data_);
  }
  void* at_least(std::size_t bytes) {
    if (bytes > bytes_) {
      if (data_ != nullptr) cpu::pool_free(data_);
      data_ = nullptr;
      bytes_ = 0;
      data_ = cpu::pool_allocate(bytes);
      bytes_ = bytes;
    }
    return data_;
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace detail

// This thread's own buffer for `slot`, aligned. It only ever grows; its contents are undefined.
template <class T, Scratch slot>
T* scratch(std::int64_t count) {
  static thread_local detail::GrowingBuffer buffer;
  return static_cast<T*>(buffer.at_least(static_cast<std::size_t>(count) * sizeof(T) + 1));
}

}  // namespace hearth::kernels
