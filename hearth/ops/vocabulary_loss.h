#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

struct VocabularyLoss {
  Var loss;
  std::vector<std::int32_t> predicted;  // the most likely token of each row; empty in a pass with a tape
};

// Mean cross entropy of hidden states x (R, H) against one token each: labels (R) of logits (R, V) = x W^T + b, where W
// (V, H) usually is the table of word embeddings. The logits exist for a block of rows at a time, and backward computes
// them again, so that no array of the size R x V is needed. Without rows the loss is 0.
HEARTH_API VocabularyLoss vocabulary_loss(Context& ctx, const Var& x, Parameter& words, Parameter& bias,
                                          std::span<const std::int64_t> labels, float label_smoothing = 0);

// Rows whose logits exist at a time: a multiple of what matmuls like, and at least that.
std::int64_t vocabulary_block_rows(std::int64_t vocab_size);

}  // namespace hearth::ops
