#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "hearth/base/arguments.h"
#include "hearth/base/dtype.h"
#include "hearth/tasks/embedding/embedder.h"
#include "hearth/tasks/text_classification/classifier.h"

namespace hearth::apps {

enum class ComputeDtype { fp32, bf16, fp16 };
constexpr std::array<std::string_view, 3> names_of(ComputeDtype) { return {"fp32", "bf16", "fp16"}; }

// The flags of commands that use a trained model: where it is, and the dtype of its matmuls.
struct ModelFlags {
  std::string model;
  ComputeDtype dtype = ComputeDtype::fp32;
  bool bf16 = false, fp16 = false;  // as the training commands have them: other words for --dtype

  void declare(Arguments& arguments, std::string model_help);
  void check_usage() const;              // throws UsageError
  std::filesystem::path folder() const;  // of the model; downloaded if it is a name
  DType compute() const;                 // warns where this processor has no such instructions
};

// Of commands that embed texts.
struct EmbedderFlags : ModelFlags {
  std::optional<std::int64_t> max_seq_length, truncate_dim;
  std::int64_t tokens_per_batch = tasks::EmbedderOptions().tokens_per_batch;
  bool normalize = false;

  void declare(Arguments& arguments);
  tasks::Embedder embedder() const;
};

// Of commands that classify texts or pairs of texts.
struct ClassifierFlags : ModelFlags {
  std::optional<std::int64_t> max_seq_length;
  std::int64_t batch_size = tasks::ClassifierOptions().batch_size;

  void declare(Arguments& arguments, std::string model_help);
  // Where neither the flag nor the model says how long its inputs are, they have `usual_length` tokens at most.
  tasks::TextClassifier classifier(std::int64_t usual_length = tasks::ClassifierOptions().usual_length) const;
};

}  // namespace hearth::apps
