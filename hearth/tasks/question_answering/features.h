#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "hearth/data/cache.h"
#include "hearth/tasks/common/token_rows.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tasks {

enum class QaFeatureKind { train, validation };

// What the features of a file keep to.
struct QaFeatureLimits {
  QaFeatureKind kind = QaFeatureKind::train;
  std::int64_t examples = 0, vocab_size = 0, max_seq_length = 0;
};

// The windows of all examples, in the order of the examples. A feature is a row of tokens.
struct QaFeatures : TokenRows {
  static constexpr tokenizer::Offset kNoOffset{-1, -1};

  data::Array<std::int32_t> examples;                        // (features): index of the example
  data::Array<std::int32_t> start_positions, end_positions;  // (features): training only
  data::Array<tokenizer::Offset> offsets;                    // (tokens): validation only; kNoOffset outside the context

  std::int64_t size() const { return static_cast<std::int64_t>(examples.size()); }
  std::span<const tokenizer::Offset> offsets_of(std::int64_t feature) const { return of_row(offsets, feature); }
  bool has_labels() const { return !start_positions.empty(); }

  // All arrays, in the order of the cache file.
  auto arrays() { return std::tie(starts, ids, type_ids, examples, start_positions, end_positions, offsets); }
  auto arrays() const { return std::tie(starts, ids, type_ids, examples, start_positions, end_positions, offsets); }
  void append(const QaFeatures& part);
  using TokenRows::append;
  std::vector<data::Section> sections() const;
  // Views of the cached sections. An Error unless the arrays are such as preprocessing makes them, within these limits:
  // anybody may have written them.
  static QaFeatures from_cache(const data::Cached& cached, const QaFeatureLimits& limits);
  void keep_first(std::int64_t count);  // for max_train_samples

 private:
  void check_whole(const QaFeatureLimits& limits) const;
};

}  // namespace hearth::tasks
