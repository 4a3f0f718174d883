#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tasks {

enum class QaFeatureKind { train, validation };

// The windows of all examples in flat arrays, in the order of the examples. Feature f has the tokens
// [starts[f], starts[f + 1]).
struct QaFeatures {
  static constexpr tokenizer::Offset kNoOffset{-1, -1};

  std::vector<std::int64_t> starts{0};
  std::vector<std::int32_t> ids;                             // (tokens)
  std::vector<std::uint8_t> type_ids;                        // (tokens)
  std::vector<std::int32_t> examples;                        // (features): index of the example
  std::vector<std::int32_t> start_positions, end_positions;  // (features): training only
  std::vector<tokenizer::Offset> offsets;                    // (tokens): validation only; kNoOffset outside the context

  std::int64_t size() const { return static_cast<std::int64_t>(examples.size()); }
  std::int64_t tokens() const { return starts.back(); }
  std::int64_t length(std::int64_t feature) const;
  std::vector<std::int64_t> lengths() const;
  std::span<const std::int32_t> ids_of(std::int64_t feature) const;
  std::span<const std::uint8_t> type_ids_of(std::int64_t feature) const;
  std::span<const tokenizer::Offset> offsets_of(std::int64_t feature) const;
  bool has_labels() const { return !start_positions.empty(); }

  static QaFeatures joined(std::vector<QaFeatures> parts);
  // All arrays in a fixed order, for the cache file.
  std::vector<std::span<const std::byte>> sections() const;
  static QaFeatures from_sections(const std::vector<std::span<const std::byte>>& sections);
  void keep_first(std::int64_t count);  // for max_train_samples
};

}  // namespace hearth::tasks
