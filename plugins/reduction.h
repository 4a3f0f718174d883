#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "plugins/backend.h"

// SUM, PROD, MIN and MAX of two arrays, for libraries that leave the arithmetic to their callers.
namespace hearth::plugins {

using Reduction = void(void* out, const void* left, const void* right, std::size_t count);

template <typename T, typename Combine>
void combine_all(void* out, const void* left, const void* right, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<T*>(out)[i] =
        static_cast<T>(Combine()(static_cast<const T*>(left)[i], static_cast<const T*>(right)[i]));
  }
}

struct Min {
  template <typename T>
  T operator()(T a, T b) const {
    return std::min(a, b);
  }
};

struct Max {
  template <typename T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};

template <typename T>
Reduction* reduction_of(Op op) {
  switch (op) {
    case HEARTH_SUM:
      return combine_all<T, std::plus<>>;
    case HEARTH_PROD:
      return combine_all<T, std::multiplies<>>;
    case HEARTH_MIN:
      return combine_all<T, Min>;
    case HEARTH_MAX:
      return combine_all<T, Max>;
  }
  return nullptr;
}

// Calls action(pointer of the type, the reduction).
template <typename Action>
void with_type(void* data, Type type, Op op, Action&& action) {
  switch (type) {
    case HEARTH_F32:
      return action(static_cast<float*>(data), reduction_of<float>(op));
    case HEARTH_F64:
      return action(static_cast<double*>(data), reduction_of<double>(op));
    case HEARTH_I32:
      return action(static_cast<std::int32_t*>(data), reduction_of<std::int32_t>(op));
    case HEARTH_I64:
      return action(static_cast<std::int64_t*>(data), reduction_of<std::int64_t>(op));
    case HEARTH_U8:
      return action(static_cast<std::uint8_t*>(data), reduction_of<std::uint8_t>(op));
  }
}

}  // namespace hearth::plugins
