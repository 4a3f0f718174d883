#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/tensor/tensor.h"

namespace hearth::io {

// A dtype of PyTorch that has a storage class of its own.
struct TorchDType {
  std::string_view storage;  // the class in the pickle: "torch.FloatStorage"
  std::string_view name;     // "float32"
  std::size_t bytes;         // per element
  std::optional<DType> type;
};
const TorchDType* find_torch_dtype(std::string_view storage);  // null: there is none
const TorchDType& torch_dtype_of(DType type);

// Memory that tensors of a file of torch.save share.
struct TorchStorage {
  std::string dtype;
  std::optional<DType> type;  // none: Hearth does not have it
  std::int64_t elements = 0;
  std::size_t element_bytes = 0;
  std::string_view bytes;             // of the mapped file; set once they are found
  std::shared_ptr<const void> owner;  // keeps them mapped
};

// A tensor of a file of torch.save: a view of a storage.
class TorchTensor {
 public:
  // An Error that begins with `file` if the view reaches beyond the storage or has more elements than it.
  TorchTensor(std::shared_ptr<const TorchStorage> storage, std::int64_t offset, std::vector<std::int64_t> shape,
              std::vector<std::int64_t> strides, const std::string& file);

  const std::vector<std::int64_t>& shape() const { return shape_; }
  // A read-only view that keeps the file mapped, or a copy if the values are misaligned or not in row-major order. bool
  // is read as u8. A dtype that Hearth does not have, or more dimensions than a Shape holds, is an Error that begins
  // with `where`.
  Tensor read(const std::string& where) const;

 private:
  bool is_row_major() const;

  std::shared_ptr<const TorchStorage> storage_;
  std::int64_t offset_;
  std::vector<std::int64_t> shape_, strides_;  // in elements
};

}  // namespace hearth::io
