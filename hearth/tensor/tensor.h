#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "hearth/base/api.h"
#include "hearth/base/dtype.h"
#include "hearth/tensor/shape.h"

namespace hearth {

// A dense, row-major array. Copies share memory; a view keeps what it views alive. No maths.
class HEARTH_API Tensor {
 public:
  Tensor() = default;               // undefined
  Tensor(Shape shape, DType type);  // contents undefined
  static Tensor zeros(Shape shape, DType type);
  static Tensor of(std::span<const float> values, Shape shape);  // a copy of the values, f32
  // Memory of somebody else's (a mapped file), alive as long as `owner` is.
  static Tensor view_of(const void* data, Shape shape, DType type, std::shared_ptr<const void> owner);

  bool defined() const { return data_ != nullptr; }
  bool is_only_view() const { return owner_.use_count() == 1; }  // no other Tensor shares the memory
  const Shape& shape() const { return shape_; }
  DType type() const { return type_; }
  std::int64_t size() const { return shape_.size(); }
  std::int64_t rows() const { return shape_.rank() == 0 ? 1 : shape_[0]; }
  std::int64_t row_size() const { return shape_.row_size(); }
  std::size_t bytes() const { return static_cast<std::size_t>(size()) * size_of(type_); }

  void* raw() const { return data_; }
  template <class T>
  T* data() const {
    if (type_ != dtype_of<T>) [[unlikely]]
      throw_other_type(dtype_of<T>);
    return static_cast<T*>(data_);
  }
  // The one element of a tensor of size 1, as a float.
  float item() const;

  Tensor slice(std::int64_t begin, std::int64_t end) const;  // rows [begin, end), shared
  Tensor reshape(Shape shape) const;                         // shared
  Tensor clone() const;
  void fill_zero() const;
  void copy_from(const Tensor& other) const;  // same shape and format

 private:
  [[noreturn]] void throw_other_type(DType asked) const;

  std::shared_ptr<const void> owner_;
  void* data_ = nullptr;
  Shape shape_;
  DType type_ = DType::f32;
};

}  // namespace hearth
