#include "hearth/tensor/shape.h"

#include <fmt/ranges.h>

#include "hearth/base/error.h"

namespace hearth {

Shape::Shape(std::span<const std::int64_t> dims) {
  check(dims.size() <= kMaxRank, "[Shape] at most {} dimensions, got {}", kMaxRank, dims.size());
  for (const std::int64_t dim : dims) {
    check(dim >= 0, "[Shape] a dimension must not be negative, got {}", dim);
    dims_[static_cast<std::size_t>(rank_++)] = dim;
  }
}

std::int64_t Shape::size() const {
  std::int64_t size = 1;
  for (const std::int64_t dim : dims()) size *= dim;
  return size;
}

std::int64_t Shape::row_size() const {
  std::int64_t size = 1;
  for (int axis = 1; axis < rank_; ++axis) size *= (*this)[axis];
  return size;
}

Shape Shape::with_first(std::int64_t rows) const {
  check(rank_ > 0, "[Shape] a scalar has no first dimension");
  Shape other = *this;
  other.dims_[0] = rows;
  return other;
}

std::string Shape::to_string() const { return fmt::format("({})", fmt::join(dims(), ", ")); }

}  // namespace hearth
