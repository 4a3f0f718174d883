#include "hearth/io/torch_tensor.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "hearth/base/check.h"

namespace hearth::io {
namespace {

// ByteStorage before BoolStorage: a tensor is written with the first entry of its DType.
constexpr std::array kDTypes = {
    TorchDType{"torch.FloatStorage", "float32", 4, DType::f32},
    TorchDType{"torch.BFloat16Storage", "bfloat16", 2, DType::bf16},
    TorchDType{"torch.HalfStorage", "float16", 2, DType::f16},
    TorchDType{"torch.DoubleStorage", "float64", 8, DType::f64},
    TorchDType{"torch.LongStorage", "int64", 8, DType::i64},
    TorchDType{"torch.IntStorage", "int32", 4, DType::i32},
    TorchDType{"torch.ByteStorage", "uint8", 1, DType::u8},
    TorchDType{"torch.BoolStorage", "bool", 1, DType::u8},
    TorchDType{"torch.ShortStorage", "int16", 2, {}},
    TorchDType{"torch.CharStorage", "int8", 1, {}},
    TorchDType{"torch.ComplexFloatStorage", "complex64", 8, {}},
    TorchDType{"torch.ComplexDoubleStorage", "complex128", 16, {}},
    TorchDType{"torch.storage.UntypedStorage", "untyped", 1, {}},
};

// Copies the values of the axes from `axis` on in row-major order; returns the place after the last one written.
std::byte* copy_axes(const std::byte* from, std::byte* to, std::span<const std::int64_t> shape,
                     std::span<const std::int64_t> strides, std::size_t bytes) {
  if (shape.empty()) {
    std::memcpy(to, from, bytes);
    return to + bytes;
  }
  for (std::int64_t i = 0; i < shape[0]; ++i)
    to = copy_axes(from + i * strides[0] * static_cast<std::int64_t>(bytes), to, shape.subspan(1), strides.subspan(1),
                   bytes);
  return to;
}

}  // namespace

const TorchDType* find_torch_dtype(std::string_view storage) {
  const auto* const found = std::ranges::find(kDTypes, storage, &TorchDType::storage);
  return found == kDTypes.end() ? nullptr : found;
}

const TorchDType& torch_dtype_of(DType type) {
  return *std::ranges::find(kDTypes, std::optional(type), &TorchDType::type);
}

TorchTensor::TorchTensor(std::shared_ptr<const TorchStorage> storage, std::int64_t offset,
                         std::vector<std::int64_t> shape, std::vector<std::int64_t> strides, const std::string& file)
    : storage_(std::move(storage)), offset_(offset), shape_(std::move(shape)), strides_(std::move(strides)) {
  const auto is_negative = [](std::int64_t number) { return number < 0; };
  check(shape_.size() == strides_.size() && offset >= 0 && std::ranges::none_of(shape_, is_negative) &&
            std::ranges::none_of(strides_, is_negative),
        "{} is damaged: a tensor has the shape ({}) and the strides ({})", file, fmt::join(shape_, ", "),
        fmt::join(strides_, ", "));
  std::int64_t last = offset, elements = 1;
  bool fits = true;
  for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
    std::int64_t reach = 0;
    fits = fits && !__builtin_mul_overflow(std::max<std::int64_t>(shape_[axis], 1) - 1, strides_[axis], &reach) &&
           !__builtin_add_overflow(last, reach, &last) &&
           !__builtin_mul_overflow(elements, std::max<std::int64_t>(shape_[axis], 1), &elements);
  }
  const bool is_empty = std::ranges::count(shape_, 0) > 0;
  check(fits && (is_empty || last < storage_->elements),
        "{} is damaged: a tensor of the shape ({}) reaches beyond its storage of {} elements", file,
        fmt::join(shape_, ", "), storage_->elements);
  check(is_empty || elements <= storage_->elements,
        "{}: a tensor of the shape ({}) repeats the {} values of its storage: save a copy that .contiguous() makes",
        file, fmt::join(shape_, ", "), storage_->elements);
}

bool TorchTensor::is_row_major() const {
  std::int64_t expected = 1;
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    if (shape_[axis] > 1 && strides_[axis] != expected) return false;
    expected *= std::max<std::int64_t>(shape_[axis], 1);
  }
  return true;
}

Tensor TorchTensor::read(const std::string& where) const {
  check(storage_->type.has_value(), "{} has dtype {}, which is not supported: store it as float32, bfloat16 or float16",
        where, storage_->dtype);
  check(shape_.size() <= Shape::kMaxRank, "{} has {} dimensions, but at most {} are supported", where, shape_.size(),
        Shape::kMaxRank);
  const DType type = *storage_->type;
  const Shape shape{std::span<const std::int64_t>(shape_)};
  if (shape.size() == 0) return {shape, type};
  const auto* const data = reinterpret_cast<const std::byte*>(storage_->bytes.data()) +
                           static_cast<std::size_t>(offset_) * storage_->element_bytes;
  if (is_row_major()) {
    const Tensor view = Tensor::view_of(data, shape, type, storage_->owner);
    return reinterpret_cast<std::uintptr_t>(data) % size_of(type) == 0 ? view : view.clone();
  }
  Tensor copy(shape, type);
  copy_axes(data, static_cast<std::byte*>(copy.raw()), shape_, strides_, storage_->element_bytes);
  return copy;
}

}  // namespace hearth::io
