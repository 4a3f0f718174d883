#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "hearth/tasks/question_answering/examples.h"
#include "hearth/tasks/question_answering/features.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tasks {

struct QaFeatureOptions {
  std::int64_t max_seq_length = 384;
  std::int64_t doc_stride = 128;  // tokens that neighbouring windows of a long context share
};

// Called from any thread, one call at a time, with the number of finished examples.
using FeatureProgress = std::function<void(std::int64_t done, std::int64_t total)>;

// Training features have labels: the tokens where the first answer begins and ends, or the [CLS] token in windows that
// do not hold the whole answer. Questions whose answers do not occur in their context are left out.
QaFeatures prepare_train_features(std::span<const QaExample> examples, const tokenizer::Tokenizer& tokenizer,
                                  const QaFeatureOptions& options, const FeatureProgress& progress = {});
// The features of some examples of a larger set, which may be none; `first` is the index of the first.
QaFeatures prepare_train_part(std::span<const QaExample> examples, std::int64_t first,
                              const tokenizer::Tokenizer& tokenizer, const QaFeatureOptions& options);
// An Error unless there are features of these examples to train on.
void check_trainable(const QaFeatures& features, std::int64_t examples);
// Validation features have offsets, to find the text of an answer.
QaFeatures prepare_validation_features(std::span<const QaExample> examples, const tokenizer::Tokenizer& tokenizer,
                                       const QaFeatureOptions& options, const FeatureProgress& progress = {});

}  // namespace hearth::tasks
