#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hearth/data/qa_dataset.h"
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

// The windows of all examples, in their order, in flat arrays: feature f has the tokens starts[f] ... starts[f + 1].
struct QaFeatures {
  static constexpr tokenizer::Offset kNoOffset{-1, -1};

  std::vector<std::int64_t> starts{0};
  std::vector<std::int32_t> ids, type_ids;                    // (tokens)
  std::vector<std::int32_t> examples;                         // (features): index of the example
  std::vector<std::int32_t> start_positions, end_positions;   // (features): training only
  std::vector<tokenizer::Offset> offsets;  // (tokens): validation only; kNoOffset outside the context

  std::int64_t size() const { return static_cast<std::int64_t>(examples.size()); }
  std::int64_t tokens() const { return starts.back(); }
  std::int64_t length(std::int64_t feature) const;
  std::vector<std::int64_t> lengths() const;
  std::span<const std::int32_t> ids_of(std::int64_t feature) const;
  std::span<const std::int32_t> type_ids_of(std::int64_t feature) const;
  std::span<const tokenizer::Offset> offsets_of(std::int64_t feature) const;
  bool has_labels() const { return !start_positions.empty(); }

  void append(const QaFeatures& others);
  void keep_first(std::int64_t count);  // max_train_samples and the like
};

// Called from any thread, one call at a time, with how many examples are done.
using Progress = std::function<void(std::int64_t done, std::int64_t total)>;

// With labels: the tokens where the first answer begins and ends, or the [CLS] token in windows that do not hold all
// of it.
QaFeatures prepare_train_features(std::span<const data::QaExample> examples, const tokenizer::Tokenizer& tokenizer,
                                  const QaFeatureOptions& options, const Progress& progress = {});
// With offsets, to find the text of an answer.
QaFeatures prepare_validation_features(std::span<const data::QaExample> examples,
                                       const tokenizer::Tokenizer& tokenizer, const QaFeatureOptions& options,
                                       const Progress& progress = {});

}  // namespace hearth::tasks
