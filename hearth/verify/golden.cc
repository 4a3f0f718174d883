#include "hearth/verify/golden.h"

#include "hearth/base/check.h"
#include "hearth/io/json.h"

namespace hearth::verify {
namespace {

const io::Json& value_at(const io::Json& object, std::string_view key, std::string_view file) {
  check(object.is_object(), "{} must hold a JSON object with the key {}", file, io::excerpt(key));
  const auto found = object.find(key);
  check(found != object.end(), "{} lacks the key {}", file, io::excerpt(key));
  return *found;
}

}  // namespace

const io::Json& list_at(const io::Json& object, std::string_view key, std::string_view file) {
  const io::Json& value = value_at(object, key, file);
  check(value.is_array(), "{}: {} must be a list", file, io::excerpt(key));
  return value;
}

const io::Json& object_at(const io::Json& object, std::string_view key, std::string_view file) {
  const io::Json& value = value_at(object, key, file);
  check(value.is_object(), "{}: {} must be an object", file, io::excerpt(key));
  return value;
}

std::optional<std::filesystem::path> tokenizer_of(const io::Json& golden, const std::filesystem::path& cases) {
  if (!golden.contains("tokenizer")) return std::nullopt;
  const std::filesystem::path file = cases.parent_path() / io::get_string(golden, "tokenizer", cases.string());
  check(file.filename() == "tokenizer.json", "{}: \"tokenizer\" names {}; a tokenizer is read from a tokenizer.json",
        cases.string(), file.string());
  return file;
}

Tensor tensor_of(const io::Safetensors& file, std::string_view name, DType type) {
  Tensor tensor = file.tensor(name);
  check(tensor.type() == type, "{}: {} holds {}, it must hold {}", file.path().string(), name, name_of(tensor.type()),
        name_of(type));
  return tensor;
}

Tensor tensor_of(const io::Safetensors& file, std::string_view name, DType type, const Shape& shape) {
  Tensor tensor = tensor_of(file, name, type);
  check(tensor.shape() == shape, "{}: {} has the shape {}, it must have {}", file.path().string(), name,
        tensor.shape().to_string(), shape.to_string());
  return tensor;
}

}  // namespace hearth::verify
