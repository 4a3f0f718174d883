#pragma once

#include <filesystem>

#include "hearth/tensor/tensor.h"

namespace hearth::io {

// NumPy's .npy files of one f32 matrix. The file is mapped: rows are read when touched.
void write_npy(const std::filesystem::path& path, const Tensor& matrix);
Tensor read_npy(const std::filesystem::path& path);

}  // namespace hearth::io
