#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace hearth {

// A packed batch: one row of T tokens, cut into sequences; nothing is padded unless somebody asked for it.
struct Batch {
  std::vector<std::int32_t> input_ids, token_type_ids;  // (T)
  std::vector<std::int64_t> starts{0};                  // (S + 1): where each sequence begins, then T
  std::vector<std::int64_t> keys;      // (S): tokens that serve as keys of attention; the rest of a sequence is padding
  std::vector<std::uint32_t> samples;  // (S): the sequence's number in the global batch; dropout is a function of it
  std::vector<std::int64_t> row_numbers{0};  // (S + 1): 0, 1, ... S, the starts of an array with one row per sequence
  std::map<std::string, std::vector<std::int64_t>>
      labels;  // "start_positions", "labels", ...: as transformers names them

  std::int64_t tokens() const { return starts.back(); }
  std::int64_t sequences() const { return static_cast<std::int64_t>(keys.size()); }

  // Appends a sequence, padded with `pad_id` up to `length` positions where that is longer than it is.
  void append(std::span<const std::int32_t> ids, std::span<const std::int32_t> type_ids, std::uint32_t sample,
              std::int64_t length = 0, std::int32_t pad_id = 0);
};

}  // namespace hearth
