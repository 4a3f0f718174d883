#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "hearth/base/api.h"

namespace hearth {

// Up to four dimensions, rows first. A scalar has none.
class HEARTH_API Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const std::int64_t> dims);

  int rank() const { return rank_; }
  std::int64_t operator[](int axis) const { return dims_[static_cast<std::size_t>(axis)]; }
  std::int64_t size() const;                  // number of elements; throws beyond what memory can address
  std::int64_t row_size() const;              // elements of one step along the first axis
  Shape with_first(std::int64_t rows) const;  // the same with another first dimension
  std::span<const std::int64_t> dims() const { return {dims_.data(), static_cast<std::size_t>(rank_)}; }
  std::string to_string() const;  // "(12, 768)"

  bool operator==(const Shape&) const = default;

 private:
  std::array<std::int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

}  // namespace hearth
