#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "hearth/io/json_fwd.h"
#include "hearth/io/pickle_value.h"
#include "hearth/io/torch_tensor.h"
#include "hearth/io/zip.h"

// Files of torch.save. They are Python pickles, but reading one runs nothing: the names of classes and functions in it
// are compared with a fixed list (tensors, state dicts, random states), and any other is refused.
namespace hearth::io {

// Tensors in the value are objects of type TorchTensor. Takes PyTorch's zip format and the one from before PyTorch 1.6.
PickleValue read_torch(const std::filesystem::path& path);

// The file as JSON, for states without tensors: tuples become arrays, and other objects null.
// Keys that are not text are left out.
Json read_torch_as_json(const std::filesystem::path& path);

// The tensors of a state dict, in the order of the file. Values that are no tensors are left out.
std::vector<std::pair<std::string, TorchTensor>> read_state_dict(const std::filesystem::path& path);

// Writes a file for torch.load(weights_only=True).
class TorchWriter {
 public:
  explicit TorchWriter(const std::filesystem::path& path);

  PickleValue tensor(const Tensor& values);  // stands for the tensor in the value; its numbers are written at once
  void commit(const PickleValue& value);     // replaces the file atomically; at most once

 private:
  ZipWriter zip_;
  std::string folder_;  // of the zip file
  std::int64_t storages_ = 0;
};

}  // namespace hearth::io
