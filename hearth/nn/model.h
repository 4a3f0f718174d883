#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/nn/parameter_scope.h"
#include "hearth/ops/context.h"
#include "hearth/tensor/batch.h"

namespace hearth::nn {

struct ModelOutput {
  Var loss;                                         // one number; undefined if the batch has no labels
  std::vector<std::pair<std::string, Var>> logits;  // f32, named as transformers names them

  const Tensor& logits_named(std::string_view name) const;  // an Error if there are none
};

// The interface between the trainer and a model.
class Model {
 public:
  virtual ~Model() = default;

  virtual ModelOutput forward(ops::Context& ctx, const BatchPtr& batch) = 0;
  virtual double training_flops(const Batch& batch) const = 0;  // of a forward and backward pass
  // Writes config.json and model.safetensors, a folder that transformers loads.
  virtual void save_pretrained(const std::filesystem::path& folder) const = 0;

  ParameterStore& parameters() { return builder_.parameters; }
  const ParameterStore& parameters() const { return builder_.parameters; }
  const ModelBuilder& builder() const { return builder_; }

 protected:
  ModelBuilder builder_;
};

}  // namespace hearth::nn
