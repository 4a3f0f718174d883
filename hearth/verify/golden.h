#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "hearth/io/json_fwd.h"
#include "hearth/io/safetensors.h"

namespace hearth::verify {

// A list or an object of a golden file; a missing key or another type is an Error that names the file and the key.
const io::Json& list_at(const io::Json& object, std::string_view key, std::string_view file);
const io::Json& object_at(const io::Json& object, std::string_view key, std::string_view file);

// The tokenizer.json that a cases.json names by "tokenizer"; none if it names a vocabulary instead.
std::optional<std::filesystem::path> tokenizer_of(const io::Json& golden, const std::filesystem::path& cases);

// A tensor of a golden file; another dtype or shape is an Error that names the file and the tensor.
Tensor tensor_of(const io::Safetensors& file, std::string_view name, DType type);
Tensor tensor_of(const io::Safetensors& file, std::string_view name, DType type, const Shape& shape);

}  // namespace hearth::verify
