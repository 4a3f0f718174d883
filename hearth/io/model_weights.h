#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/tensor/tensor.h"

namespace hearth::io {

// A tensor of a file of weights.
struct StoredWeight {
  std::filesystem::path file;
  std::vector<std::int64_t> shape;
  std::function<Tensor()> read;  // as Safetensors::tensor, TorchTensor::read
};
using StoredWeights = std::map<std::string, StoredWeight, std::less<>>;  // by name

// The weights of a Hugging Face model folder, in the file that transformers would take: model.safetensors, the shards
// of model.safetensors.index.json, pytorch_model.bin, or the shards of pytorch_model.bin.index.json.
class ModelWeights {
 public:
  static ModelWeights open(const std::filesystem::path& folder);

  std::vector<std::string> names() const;  // sorted
  bool contains(std::string_view name) const { return weights_.contains(name); }
  // The name of the tensor that holds this parameter. Old folders, and those of some versions of transformers 5, call
  // LayerNorm.weight and LayerNorm.bias gamma and beta.
  std::optional<std::string> stored_name(const std::string& parameter) const;
  const std::vector<std::int64_t>& shape(std::string_view name) const { return weight(name).shape; }
  Tensor tensor(std::string_view name) const { return weight(name).read(); }
  std::string file_of(std::string_view name) const { return weight(name).file.string(); }

 private:
  const StoredWeight& weight(std::string_view name) const;

  std::filesystem::path folder_;
  StoredWeights weights_;
};

}  // namespace hearth::io
