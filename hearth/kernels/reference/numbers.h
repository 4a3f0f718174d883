#pragma once

#include <cstddef>
#include <cstdint>

#include "hearth/base/check.h"
#include "hearth/base/dtype.h"

namespace hearth::kernels::reference {

// Elements of an array whose dtype is known at run time.
inline double get(DType type, const void* data, std::int64_t i) {
  switch (type) {
    case DType::f32:
      return static_cast<const float*>(data)[i];
    case DType::bf16:
      return static_cast<float>(static_cast<const BFloat16*>(data)[i]);
    case DType::f16:
      return static_cast<float>(static_cast<const Float16*>(data)[i]);
    default:
      fail("[reference] kernels do not compute in {}; use fp32, bf16 or fp16", name_of(type));
  }
}

inline void set(DType type, void* data, std::int64_t i, double value) {
  const auto single = static_cast<float>(value);
  switch (type) {
    case DType::f32:
      static_cast<float*>(data)[i] = single;
      return;
    case DType::bf16:
      static_cast<BFloat16*>(data)[i] = BFloat16(single);
      return;
    case DType::f16:
      static_cast<Float16*>(data)[i] = Float16(single);
      return;
    default:
      fail("[reference] kernels do not compute in {}; use fp32, bf16 or fp16", name_of(type));
  }
}

// The value as an array of dtype `type` stores it.
inline double as_stored(DType type, double value) {
  alignas(float) std::byte element[sizeof(float)];  // the largest of these dtypes
  set(type, element, 0, value);
  return get(type, element, 0);
}

}  // namespace hearth::kernels::reference
