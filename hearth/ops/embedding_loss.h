#pragma once

#include <cstdint>
#include <span>

#include "hearth/base/api.h"
#include "hearth/ops/context.h"

namespace hearth::ops {

// Losses over embeddings, as in sentence-transformers; each is one number. Similarities and distances, (M), come from
// ops/similarity.h; labels have M numbers.

// Mean cross entropy of scale * queries candidates^T, (M, N), where query i belongs to candidate first + i: multiple
// negatives ranking. The matrix exists only a block of rows at a time. The gradients are computed with the loss.
HEARTH_API Var ranking_loss(Context& ctx, const Var& queries, const Var& candidates, float scale,
                            std::int64_t first = 0);

// log(1 + the sum of exp(s_i - s_j) over all pairs with label_i < label_j): CoSENT, of scaled similarities.
HEARTH_API Var cosent_loss(Context& ctx, const Var& similarities, std::span<const float> labels);

// The mean of relu(positive - negative + margin).
HEARTH_API Var triplet_loss(Context& ctx, const Var& positive_distances, const Var& negative_distances, float margin);

// The mean of (label d^2 + (1 - label) relu(margin - d)^2) / 2.
HEARTH_API Var contrastive_loss(Context& ctx, const Var& distances, std::span<const float> labels, float margin);

// The sum of d^2 over positive pairs (label 1) that are farther than the nearest negative one, and of
// relu(margin - d)^2 over negative pairs (label 0) that are nearer than the farthest positive one. Where a batch has
// only one pair of a kind, the mean distance of the other kind takes its place.
HEARTH_API Var online_contrastive_loss(Context& ctx, const Var& distances, std::span<const float> labels, float margin);

// The Kullback-Leibler divergence from softmax(scores / temperature) to softmax(teacher / temperature), mean over the
// rows, times temperature^2. `scores` has a vector (M) per candidate, `teacher` is (M, candidates).
HEARTH_API Var distill_kl_loss(Context& ctx, std::span<const Var> scores, std::span<const float> teacher,
                               float temperature);

}  // namespace hearth::ops
