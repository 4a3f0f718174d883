#pragma once

// What matmuls on a tile unit share; panel_product-inl.h and panel_tokens-inl.h are their two kinds.

#include <cstddef>
#include <cstdint>

#include "hearth/cpu/memory.h"

namespace hearth::kernels::panels {

// A matmul cut into tasks, which several matmuls run in one parallel region.
class TileMatmul {
 public:
  virtual ~TileMatmul() = default;
  virtual void prepare() {}  // on all threads, before the first task
  virtual std::int64_t tasks() const = 0;
  virtual void run(std::int64_t task) = 0;
  virtual void end() {}  // after the last task
};

// Pool memory that lives as long as one matmul.
class PoolBuffer {
 public:
  explicit PoolBuffer(std::int64_t elements)  // of 16 bits
      : data_(elements == 0 ? nullptr
                            : static_cast<std::uint16_t*>(cpu::pool_allocate(static_cast<std::size_t>(elements) * 2))) {
  }
  ~PoolBuffer() {
    if (data_ != nullptr) cpu::pool_free(data_);
  }
  PoolBuffer(const PoolBuffer&) = delete;
  PoolBuffer& operator=(const PoolBuffer&) = delete;
  std::uint16_t* data() const { return data_; }

 private:
  std::uint16_t* data_;
};

}  // namespace hearth::kernels::panels
