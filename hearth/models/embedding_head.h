#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hearth/models/embedding_loss.h"
#include "hearth/ops/pooling.h"

namespace hearth::models {

// How a text becomes an embedding, and what is learned from embeddings.
struct EmbeddingSpec {
  std::vector<ops::Pooling> pooling{ops::Pooling::mean};  // several: one embedding beside the other
  bool normalize = false;
  std::int64_t mini_batch_size = 0;  // texts per chunk of a training pass; 0: the whole batch at once
  EmbeddingLoss loss = {};
};

class Head;
// Its logits are "sentence_embedding", (S, D). It has no parameters.
std::unique_ptr<Head> make_embedding_head(const EmbeddingSpec& spec);

}  // namespace hearth::models
