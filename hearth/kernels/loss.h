#pragma once

#include <cstdint>

#include "hearth/kernels/sequences.h"

namespace hearth::kernels {

// Mean cross entropy over the rows whose label is not `ignore_label`, as torch.nn.functional.cross_entropy with
// `label_smoothing` does it. logits (rows, classes) f32. Writes d(mean loss)/d(logits) where dlogits is not null.
// No row counted: the loss is NaN, as in PyTorch, and the gradient zero.
float cross_entropy(std::int64_t rows, std::int64_t classes, const float* logits, const std::int64_t* labels,
                    std::int64_t ignore_label, float label_smoothing, float* dlogits);

// The loss of extractive question answering: for each sequence the cross entropy of the start over all its tokens
// (padding included, as transformers does it) and that of the end, mean over sequences, mean of the two. logits
// (T, 2) f32: start, end. A position below 0 counts as 0; one past the sequence's last token leaves that term out of
// the mean, as transformers' ignore_index does.
float span_loss(const Sequences& sequences, const float* logits, const std::int64_t* starts, const std::int64_t* ends,
                float* dlogits);

}  // namespace hearth::kernels
