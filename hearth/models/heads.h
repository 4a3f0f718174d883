#pragma once

#include "hearth/nn/encoder.h"
#include "hearth/nn/model.h"

// Heads on the hidden states (T, H) of an encoder, shared by the model families.
namespace hearth::models {

// qa_outputs: start and end logits of each token, (T) each.
class SpanHead {
 public:
  SpanHead(const nn::Cursor& root, const nn::EncoderConfig& config, float dropout);
  nn::ModelOutput operator()(ops::Context& ctx, const Batch& batch, const Var& hidden) const;

 private:
  nn::Linear outputs_;
  float dropout_;
  std::uint32_t site_;
};

// The logits (S, labels) of a classifier with one row per sequence, and their loss.
nn::ModelOutput classify(ops::Context& ctx, const Batch& batch, const Var& logits, float label_smoothing);

}  // namespace hearth::models
