#include "convert.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <type_traits>
#include <variant>

#include "hearth/io/json.h"

namespace hearth::python {

namespace nb = nanobind;

namespace {

constexpr nb::dlpack::dtype dtype_of(DType type) {
  using Code = nb::dlpack::dtype_code;
  switch (type) {
    case DType::bf16:
      return {static_cast<std::uint8_t>(Code::Bfloat), 16, 1};
    case DType::f16:
      return {static_cast<std::uint8_t>(Code::Float), 16, 1};
    case DType::f64:
      return {static_cast<std::uint8_t>(Code::Float), 64, 1};
    case DType::i32:
      return {static_cast<std::uint8_t>(Code::Int), 32, 1};
    case DType::i64:
      return {static_cast<std::uint8_t>(Code::Int), 64, 1};
    default:
      return {static_cast<std::uint8_t>(Code::Float), 32, 1};
  }
}

// Frees what it points to when Python lets the array go.
template <class T>
nb::capsule owner_of(std::unique_ptr<T> object) {
  return nb::capsule(object.release(), [](void* pointer) noexcept { delete static_cast<T*>(pointer); });
}

template <class T>
nb::object owning_array(std::vector<T> values, const std::vector<std::size_t>& shape) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = kept->data();
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner_of(std::move(kept))));
}

}  // namespace

nb::object to_python(const io::Json& json) {
  if (json.is_boolean()) return nb::bool_(json.get<bool>());
  if (json.is_number_integer()) return nb::int_(json.get<std::int64_t>());
  if (json.is_number()) return nb::float_(json.get<double>());
  if (json.is_string()) {
    const auto text = json.get<std::string>();
    return nb::str(text.data(), text.size());
  }
  if (json.is_array()) {
    nb::list list;
    for (const io::Json& item : json) list.append(to_python(item));
    return list;
  }
  if (json.is_object()) {
    nb::dict dict;
    for (const auto& [key, value] : json.items()) dict[nb::str(key.data(), key.size())] = to_python(value);
    return dict;
  }
  return nb::none();
}

nb::object to_python(const ArgumentValue& value) {
  return std::visit(
      [](const auto& one) -> nb::object {
        using T = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nb::none();
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          nb::list list;
          for (const std::string& text : one) list.append(nb::str(text.c_str()));
          return list;
        } else if constexpr (std::is_same_v<T, std::string>) {
          return nb::str(one.data(), one.size());
        } else {
          return nb::cast(one);
        }
      },
      value);
}

nb::dict to_python(const Metrics& metrics) {
  nb::dict dict;
  for (const auto& [name, number] : metrics)
    dict[nb::str(name.c_str())] = number.is_integer() ? nb::cast(number.as_integer()) : nb::cast(number.as_double());
  return dict;
}

Metrics to_metrics(const nb::dict& values) {
  Metrics metrics;
  for (const auto& [name, value] : values) {
    const auto key = nb::cast<std::string>(nb::str(name));
    if (nb::isinstance<nb::int_>(value))
      metrics.set(key, nb::cast<std::int64_t>(value));
    else
      metrics.set(key, nb::cast<double>(nb::float_(value)));
  }
  return metrics;
}

nb::object array_of(const Tensor& tensor) {
  std::vector<std::size_t> shape;
  for (const std::int64_t size : tensor.shape().dims()) shape.push_back(static_cast<std::size_t>(size));
  const nb::capsule owner = owner_of(std::make_unique<Tensor>(tensor));
  const nb::dlpack::dtype type = dtype_of(tensor.type());
  if (tensor.type() == DType::bf16)
    return nb::cast(nb::ndarray<>(tensor.raw(), shape.size(), shape.data(), owner, nullptr, type));
  return nb::cast(nb::ndarray<nb::numpy>(tensor.raw(), shape.size(), shape.data(), owner, nullptr, type));
}

nb::object array_of(std::vector<std::int64_t> values, std::vector<std::size_t> shape) {
  return owning_array(std::move(values), shape);
}

nb::object array_of(std::vector<float> values, std::vector<std::size_t> shape) {
  return owning_array(std::move(values), shape);
}

}  // namespace hearth::python
