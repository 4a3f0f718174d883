#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "hearth/data/qa_dataset.h"
#include "hearth/tasks/qa_features.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tasks {

struct QaFeatureOptions {
  std::int64_t max_seq_length = 384;
  std::int64_t doc_stride = 128;  // tokens that neighbouring windows share
  // Hugging Face's tokenizers 0.23.1 and 0.23.2 stop reading a context at the end of the word that brings it to
  // max_seq_length tokens, and the reference results are made so: what follows is in no window. All other versions
  // put the whole context into windows.
  bool whole_context = false;
};

// Called from any thread, one call at a time, with how many examples are done.
using FeatureProgress = std::function<void(std::int64_t done, std::int64_t total)>;

// With labels: the tokens where the first answer begins and ends, or the [CLS] token in windows that do not hold all
// of it.
QaFeatures prepare_train_features(std::span<const data::QaExample> examples, const tokenizer::Tokenizer& tokenizer,
                                  const QaFeatureOptions& options, const FeatureProgress& progress = {});
// With offsets, to find the text of an answer.
QaFeatures prepare_validation_features(std::span<const data::QaExample> examples, const tokenizer::Tokenizer& tokenizer,
                                       const QaFeatureOptions& options, const FeatureProgress& progress = {});

// Both end with it; for features that were kept it is to be called again.
void warn_of_cut_contexts(const QaFeatures& features, const QaFeatureOptions& options);

}  // namespace hearth::tasks
