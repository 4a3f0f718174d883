#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/io/file.h"
#include "hearth/tensor/tensor.h"

namespace hearth::io {

// A memory-mapped safetensors file. Opening checks the whole header; values are read when touched.
class Safetensors {
 public:
  struct Entry {
    std::string dtype;  // as the file spells it: "F32"
    std::vector<std::int64_t> shape;
    std::size_t begin = 0, end = 0;  // bytes of the file
  };
  using Metadata = std::map<std::string, std::string>;

  static Safetensors open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_->path(); }
  std::vector<std::string> names() const;  // sorted
  bool contains(std::string_view name) const { return entries_.contains(name); }
  const Entry& entry(std::string_view name) const;
  // A read-only view that keeps the file mapped, or a copy if the values are misaligned in the file. BOOL is read as
  // u8. A dtype that Hearth does not have, or more dimensions than a Shape holds, is an Error.
  Tensor tensor(std::string_view name) const;
  const Metadata& metadata() const { return metadata_; }

 private:
  std::shared_ptr<const MappedFile> file_;
  std::map<std::string, Entry, std::less<>> entries_;
  Metadata metadata_;
};

// Replaces the file atomically. transformers requires the metadata {"format": "pt"}.
void write_safetensors(const std::filesystem::path& path, const std::vector<std::pair<std::string, Tensor>>& tensors,
                       const Safetensors::Metadata& metadata = {{"format", "pt"}});

}  // namespace hearth::io
