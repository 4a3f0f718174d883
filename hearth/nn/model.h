#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "hearth/kernels/sequences.h"
#include "hearth/nn/cursor.h"
#include "hearth/ops/context.h"
#include "hearth/tensor/batch.h"

namespace hearth::nn {

struct ModelOutput {
  Var loss;                                         // one number; undefined if the batch has no labels
  std::vector<std::pair<std::string, Var>> logits;  // f32, named as transformers names them
};

// The interface between the trainer and a model. The batch must outlive the context's tape: backward reads it.
class Model {
 public:
  virtual ~Model() = default;

  virtual ModelOutput forward(ops::Context& ctx, const Batch& batch) = 0;
  virtual double training_flops(const Batch& batch) const = 0;  // of a forward and backward pass
  // Writes config.json and model.safetensors, a folder that transformers loads.
  virtual void save_pretrained(const std::filesystem::path& folder) const = 0;

  ParameterStore& parameters() { return blueprint_.parameters; }
  const ParameterStore& parameters() const { return blueprint_.parameters; }
  const Blueprint& blueprint() const { return blueprint_; }

 protected:
  Blueprint blueprint_;
};

kernels::Sequences sequences_of(const Batch& batch);      // tokens
kernels::Sequences sequence_rows_of(const Batch& batch);  // arrays with one row per sequence

}  // namespace hearth::nn
