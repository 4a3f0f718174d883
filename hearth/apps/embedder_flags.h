#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "hearth/base/arguments.h"
#include "hearth/tasks/embedding/embedder.h"

namespace hearth::apps {

enum class ComputeDtype { fp32, bf16, fp16 };
constexpr std::array<std::string_view, 3> names_of(ComputeDtype) { return {"fp32", "bf16", "fp16"}; }
DType dtype_of(ComputeDtype dtype);

// The flags of commands that embed texts.
struct EmbedderFlags {
  std::string model;
  std::optional<std::int64_t> max_seq_length, truncate_dim;
  std::int64_t tokens_per_batch = tasks::EmbedderOptions().tokens_per_batch;
  ComputeDtype dtype = ComputeDtype::fp32;
  bool normalize = false;

  void declare(Arguments& arguments);
  tasks::Embedder embedder() const;
};

}  // namespace hearth::apps
