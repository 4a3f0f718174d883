#pragma once

#include <cstdint>
#include <span>

#include "hearth/kernels/rows/sequences.h"

namespace hearth::kernels {

struct CrossEntropyOptions {
  std::int64_t ignore_label = -100;           // rows with this label do not count
  float label_smoothing = 0;                  // not together with focal_gamma
  std::span<const float> class_weights = {};  // (classes), not negative; empty: 1 each
  float focal_gamma = 0;                      // row losses times (1 - p(label))^focal_gamma, as Lin et al., 2017
};

// Mean cross entropy over the rows that count, as torch.nn.functional.cross_entropy: with class weights, the sum over
// the sum of the labels' weights. logits (rows, classes) f32. Writes d(mean loss)/d(logits) where dlogits is not null;
// in place is fine.
// Where no row counts, or only rows of weight 0, the loss is NaN, as in PyTorch, and the gradient zero.
float cross_entropy(std::int64_t rows, std::int64_t classes, const float* logits, const std::int64_t* labels,
                    const CrossEntropyOptions& options, float* dlogits);

struct BinaryCrossEntropyOptions {
  std::span<const float> class_weights = {};  // (labels), PyTorch's pos_weight; empty: 1 each
  float focal_gamma = 0;                      // cell losses times (1 - p(target))^focal_gamma, as Lin et al., 2017
};

// Mean over all cells of the binary cross entropy, as torch.nn.BCEWithLogitsLoss. logits and targets (rows, labels)
// f32; targets lie between 0 and 1. Writes d(mean loss)/d(logits) where dlogits is not null. No cell: NaN.
float binary_cross_entropy(std::int64_t rows, std::int64_t labels, const float* logits, const float* targets,
                           const BinaryCrossEntropyOptions& options, float* dlogits);

// Mean of (logit - target)^2 over n cells. Writes d(mean loss)/d(logits) where dlogits is not null. No cell: NaN.
float mean_squared_error(std::int64_t n, const float* logits, const float* targets, float* dlogits);

// The loss of extractive question answering: for each sequence the cross entropy of the start over all its tokens
// (padding included, as transformers does it) and that of the end, mean over sequences, mean of the two. logits
// (T, 2) f32: start, end. A position below 0 counts as 0; one past the sequence's last token leaves that term out of
// the mean, as transformers' ignore_index does.
float span_loss(const Sequences& sequences, const float* logits, const std::int64_t* starts, const std::int64_t* ends,
                float* dlogits);

}  // namespace hearth::kernels
