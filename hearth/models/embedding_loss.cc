#include "hearth/models/embedding_loss.h"

#include <span>

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/ops/elementwise.h"
#include "hearth/ops/embedding_loss.h"
#include "hearth/ops/loss.h"
#include "hearth/ops/parts.h"
#include "hearth/ops/similarity.h"

namespace hearth::models {
namespace {

using Texts = std::vector<Var>;  // embeddings (items, D) of the first texts of all items, of their second texts, ...

constexpr float kLeastNormOfCosineLoss = 1e-8f;  // torch.cosine_similarity's
constexpr float kPairwiseShift = 1e-6f;          // torch.nn.functional.pairwise_distance's

Texts texts_of(ops::Context& ctx, const Batch& batch, const Var& embeddings) {
  const std::int64_t items = batch.sequences() / batch.texts_per_item;
  Texts texts;
  for (std::int64_t text = 0; text < batch.texts_per_item; ++text)
    texts.push_back(ops::slice_rows(ctx, embeddings, text * items, (text + 1) * items));
  return texts;
}

std::span<const float> labels_of(const Batch& batch) {
  const auto labels = batch.float_labels.find("labels");
  check(labels != batch.float_labels.end(), "[EmbeddingLoss] the batch has no labels");
  return labels->second;
}

Var complement(ops::Context& ctx, const Var& similarities) {  // 1 - x
  Tensor ones(similarities.value().shape(), DType::f32);
  for (std::int64_t i = 0; i < ones.size(); ++i) ones.data<float>()[i] = 1;
  return ops::subtract(ctx, Var(ones), similarities);
}

Var distances(ops::Context& ctx, DistanceMetric metric, const Var& a, const Var& b, float shift) {
  if (metric == DistanceMetric::cosine) return complement(ctx, ops::cosine_rows(ctx, a, b));
  return ops::distance_rows(
      ctx, a, b, metric == DistanceMetric::euclidean ? ops::Distance::euclidean : ops::Distance::manhattan, shift);
}

// Queries are the first texts; the second ones are their positives, and all further ones are negatives of every query.
Var ranking(ops::Context& ctx, const EmbeddingLoss& loss, const Texts& texts) {
  const Var queries = ops::normalize_rows(ctx, texts[0]);
  const bool gathers = loss.exchange != nullptr && ctx.tape != nullptr;
  Texts candidates;
  for (std::size_t text = 1; text < texts.size(); ++text) {
    const Var all = gathers ? ops::gather_rows(ctx, texts[text], *loss.exchange) : texts[text];
    candidates.push_back(ops::normalize_rows(ctx, all));
  }
  const Var documents = ops::concat_rows(ctx, candidates);
  const std::int64_t first = gathers ? loss.exchange->rank() * queries.value().rows() : 0;
  return ops::ranking_loss(ctx, queries, documents, loss.scale, first);
}

Var dots_with_first(ops::Context& ctx, const Texts& texts, std::size_t text) {
  return ops::dot_rows(ctx, texts[0], texts[text]);
}

// The teacher's score of the positive minus that of each negative: labels have these, or all scores.
Var margin_mse(ops::Context& ctx, const Texts& texts, std::span<const float> labels) {
  const std::size_t negatives = texts.size() - 2, items = static_cast<std::size_t>(texts[0].value().rows());
  const std::size_t width = labels.size() / items;
  check(width == negatives || width == negatives + 1, "[EmbeddingLoss] {} labels per item for {} negatives", width,
        negatives);
  const Var positive = dots_with_first(ctx, texts, 1);
  Var sum;
  for (std::size_t negative = 0; negative < negatives; ++negative) {
    const Var score = dots_with_first(ctx, texts, negative + 2);
    const Var margin = ops::subtract(ctx, positive, score);
    std::vector<float> wanted(items);
    for (std::size_t i = 0; i < items; ++i) {
      const std::span<const float> row = labels.subspan(i * width, width);
      wanted[i] = width == negatives ? row[negative] : row[0] - row[negative + 1];
    }
    const Var error = ops::mean_squared_error(ctx, margin, wanted);
    sum = sum.defined() ? ops::add(ctx, sum, error) : error;
  }
  return ops::scale(ctx, sum, 1.0f / static_cast<float>(negatives));
}

Var distillation(ops::Context& ctx, const Texts& texts, std::span<const float> labels, float temperature) {
  std::vector<Var> scores;
  for (std::size_t text = 1; text < texts.size(); ++text) scores.push_back(dots_with_first(ctx, texts, text));
  return ops::distill_kl_loss(ctx, scores, labels, temperature);
}

Var loss_of(ops::Context& ctx, const EmbeddingLoss& loss, const Batch& batch, const Texts& texts) {
  using enum EmbeddingLossKind;
  switch (loss.kind) {
    case multiple_negatives_ranking:
    case cached_multiple_negatives_ranking:
      return ranking(ctx, loss, texts);
    case cosine_similarity:
      return ops::mean_squared_error(ctx, ops::cosine_rows(ctx, texts[0], texts[1], kLeastNormOfCosineLoss),
                                     labels_of(batch));
    case cosent: {
      const Var cosines = ops::cosine_rows(ctx, texts[0], texts[1]);
      return ops::cosent_loss(ctx, ops::scale(ctx, cosines, loss.scale), labels_of(batch));
    }
    case triplet: {
      const Var positive = distances(ctx, loss.distance, texts[0], texts[1], 0);
      const Var negative = distances(ctx, loss.distance, texts[0], texts[2], 0);
      return ops::triplet_loss(ctx, positive, negative, loss.margin);
    }
    case contrastive:
      return ops::contrastive_loss(ctx, distances(ctx, loss.distance, texts[0], texts[1], kPairwiseShift),
                                   labels_of(batch), loss.margin);
    case online_contrastive:
      return ops::online_contrastive_loss(ctx, distances(ctx, loss.distance, texts[0], texts[1], kPairwiseShift),
                                          labels_of(batch), loss.margin);
    case margin_mse:
      return models::margin_mse(ctx, texts, labels_of(batch));
    case distill_kl_div:
      return distillation(ctx, texts, labels_of(batch), loss.temperature);
  }
  fail("[EmbeddingLoss] unknown loss {}", static_cast<int>(loss.kind));
}

}  // namespace

Var EmbeddingLoss::operator()(ops::Context& ctx, const Batch& batch, const Var& embeddings) const {
  const Span span("embedding loss");
  if (matryoshka_dims.empty()) return loss_of(ctx, *this, batch, texts_of(ctx, batch, embeddings));
  Var sum;
  for (std::size_t i = 0; i < matryoshka_dims.size(); ++i) {
    const Var part = ops::first_columns(ctx, embeddings, matryoshka_dims[i]);
    const Var shorter = ops::normalize_rows(ctx, part);
    const Var loss = loss_of(ctx, *this, batch, texts_of(ctx, batch, shorter));
    const Var weighted = ops::scale(ctx, loss, matryoshka_weights.empty() ? 1 : matryoshka_weights[i]);
    sum = sum.defined() ? ops::add(ctx, sum, weighted) : weighted;
  }
  return sum;
}

}  // namespace hearth::models
