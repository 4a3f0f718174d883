#include "hearth/tensor/tensor.h"

#include <algorithm>
#include <cstring>

#include "hearth/base/check.h"
#include "hearth/cpu/memory.h"

namespace hearth {

Tensor::Tensor(Shape shape, DType type) : shape_(shape), type_(type) {
  data_ = cpu::pool_allocate(bytes());
  owner_ = std::shared_ptr<const void>(data_, [](const void* data) { cpu::pool_free(const_cast<void*>(data)); });
}

Tensor Tensor::zeros(Shape shape, DType type) {
  Tensor tensor(shape, type);
  tensor.fill_zero();
  return tensor;
}

Tensor Tensor::of(std::span<const float> values, Shape shape) {
  check(static_cast<std::int64_t>(values.size()) == shape.size(), "[Tensor::of] {} values for a tensor of shape {}",
        values.size(), shape.to_string());
  Tensor tensor(shape, DType::f32);
  std::ranges::copy(values, tensor.data<float>());
  return tensor;
}

Tensor Tensor::view_of(const void* data, Shape shape, DType type, std::shared_ptr<const void> owner) {
  Tensor tensor;
  tensor.owner_ = std::move(owner);
  tensor.data_ = const_cast<void*>(data);
  tensor.shape_ = shape;
  tensor.type_ = type;
  return tensor;
}

void Tensor::throw_other_type(DType asked) const {
  fail("[Tensor] holds {}, read as {}", name_of(type_), name_of(asked));
}

float Tensor::item() const {
  check(defined(), "[Tensor::item] the tensor has no values");
  check(size() == 1, "[Tensor::item] needs one element, the shape is {}", shape_.to_string());
  switch (type_) {
    case DType::f32:
      return *data<float>();
    case DType::bf16:
      return static_cast<float>(*data<BFloat16>());
    case DType::f16:
      return static_cast<float>(*data<Float16>());
    case DType::f64:
      return static_cast<float>(*data<double>());
    case DType::i64:
      return static_cast<float>(*data<std::int64_t>());
    case DType::i32:
      return static_cast<float>(*data<std::int32_t>());
    case DType::u8:
      return static_cast<float>(*data<std::uint8_t>());
  }
  fail("[Tensor::item] unknown number format");
}

Tensor Tensor::slice(std::int64_t begin, std::int64_t end) const {
  check(0 <= begin && begin <= end && end <= rows(), "[Tensor::slice] rows {} to {} of shape {}", begin, end,
        shape_.to_string());
  Tensor view = *this;
  view.shape_ = shape_.with_first(end - begin);
  view.data_ = static_cast<std::byte*>(data_) + static_cast<std::size_t>(begin * row_size()) * size_of(type_);
  return view;
}

Tensor Tensor::reshape(Shape shape) const {
  check(shape.size() == size(), "[Tensor::reshape] {} does not hold the elements of {}", shape.to_string(),
        shape_.to_string());
  Tensor view = *this;
  view.shape_ = shape;
  return view;
}

Tensor Tensor::clone() const {
  Tensor copy(shape_, type_);
  copy.copy_from(*this);
  return copy;
}

void Tensor::fill_zero() const {
  if (bytes() > 0) std::memset(data_, 0, bytes());
}

void Tensor::copy_from(const Tensor& other) const {
  check(other.shape_ == shape_ && other.type_ == type_, "[Tensor::copy_from] {} {} into {} {}", name_of(other.type_),
        other.shape_.to_string(), name_of(type_), shape_.to_string());
  if (bytes() > 0) std::memcpy(data_, other.data_, bytes());
}

}  // namespace hearth
