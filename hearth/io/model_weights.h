#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/io/safetensors.h"
#include "hearth/tensor/tensor.h"

namespace hearth::io {

// The weights of a Hugging Face model folder: model.safetensors, or the shards of model.safetensors.index.json.
class ModelWeights {
 public:
  static ModelWeights open(const std::filesystem::path& folder);

  std::vector<std::string> names() const;  // sorted
  bool contains(std::string_view name) const { return shard_of_.contains(name); }
  // The name of the tensor that holds this parameter. Old folders, and those of some versions of transformers 5, call
  // LayerNorm.weight and LayerNorm.bias gamma and beta.
  std::optional<std::string> stored_name(const std::string& parameter) const;
  const Safetensors::Entry& entry(std::string_view name) const;
  Tensor tensor(std::string_view name) const;  // as Safetensors::tensor
  std::string file_of(std::string_view name) const;

 private:
  const Safetensors& shard_of(std::string_view name) const;
  void open_shards(const std::filesystem::path& index);

  std::filesystem::path folder_;
  std::vector<Safetensors> shards_;
  std::map<std::string, std::size_t, std::less<>> shard_of_;
};

}  // namespace hearth::io
