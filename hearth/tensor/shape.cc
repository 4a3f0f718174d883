#include "hearth/tensor/shape.h"

#include <fmt/ranges.h>

#include "hearth/base/check.h"

namespace hearth {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 59;  // so that their bytes can be counted too

std::int64_t product(std::span<const std::int64_t> dims) {
  std::int64_t size = 1;
  for (const std::int64_t dim : dims)
    if (__builtin_mul_overflow(size, dim, &size) || size > kMostElements)
      fail("[Shape] ({}) has more elements than any memory holds", fmt::join(dims, ", "));
  return size;
}

}  // namespace

Shape::Shape(std::span<const std::int64_t> dims) {
  check(dims.size() <= kMaxRank, "[Shape] at most {} dimensions, got {}", kMaxRank, dims.size());
  for (const std::int64_t dim : dims) {
    check(dim >= 0, "[Shape] a dimension must not be negative, got {}", dim);
    dims_[static_cast<std::size_t>(rank_++)] = dim;
  }
}

std::int64_t Shape::size() const { return product(dims()); }

std::int64_t Shape::row_size() const { return rank_ == 0 ? 1 : product(dims().subspan(1)); }

Shape Shape::with_first(std::int64_t rows) const {
  check(rank_ > 0, "[Shape] a scalar has no first dimension");
  Shape other = *this;
  other.dims_[0] = rows;
  return other;
}

std::string Shape::to_string() const { return fmt::format("({})", fmt::join(dims(), ", ")); }

}  // namespace hearth
