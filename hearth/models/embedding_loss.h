#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "hearth/base/enum_names.h"
#include "hearth/ops/context.h"
#include "hearth/ops/row_exchange.h"

namespace hearth::models {

// The losses of sentence-transformers. The cached one is the first one in chunks, which here any loss may have.
enum class EmbeddingLossKind : std::uint8_t {
  multiple_negatives_ranking,
  cached_multiple_negatives_ranking,
  cosine_similarity,
  cosent,
  triplet,
  contrastive,
  online_contrastive,
  margin_mse,
  distill_kl_div,
};
constexpr std::array<std::string_view, 9> names_of(EmbeddingLossKind) {
  return {"MultipleNegativesRankingLoss",
          "CachedMultipleNegativesRankingLoss",
          "CosineSimilarityLoss",
          "CoSENTLoss",
          "TripletLoss",
          "ContrastiveLoss",
          "OnlineContrastiveLoss",
          "MarginMSELoss",
          "DistillKLDivLoss"};
}

enum class DistanceMetric : std::uint8_t { euclidean, cosine, manhattan };
constexpr std::array<std::string_view, 3> names_of(DistanceMetric) { return {"euclidean", "cosine", "manhattan"}; }

// A loss over the embeddings of a batch whose items have several texts, with the defaults of sentence-transformers.
struct EmbeddingLoss {
  EmbeddingLossKind kind = EmbeddingLossKind::multiple_negatives_ranking;
  float scale = 20;                                     // of cosines: multiple negatives ranking, CoSENT
  float margin = 5;                                     // triplet; contrastive: 0.5
  DistanceMetric distance = DistanceMetric::euclidean;  // triplet; contrastive: cosine
  float temperature = 1;                                // of DistillKLDivLoss
  // Matryoshka: the sum of weight times loss over the first `dims` columns, normalised. Empty: the loss alone.
  std::vector<std::int64_t> matryoshka_dims = {};
  std::vector<float> matryoshka_weights = {};
  // While training, candidates of multiple negatives ranking come from all of its ranks. Null: from this rank alone.
  std::shared_ptr<const ops::RowExchange> exchange = nullptr;

  bool is_ranking() const {
    return kind == EmbeddingLossKind::multiple_negatives_ranking ||
           kind == EmbeddingLossKind::cached_multiple_negatives_ranking;
  }
  // Of embeddings (texts_per_item * items, D), in the batch's order. Labels are the batch's float_labels "labels".
  Var operator()(ops::Context& ctx, const Batch& batch, const Var& embeddings) const;
};

}  // namespace hearth::models
