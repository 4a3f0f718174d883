#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hearth/base/api.h"

namespace hearth {

// A packed batch: one row of T tokens, cut into sequences; nothing is padded unless somebody asked for it.
struct HEARTH_API Batch {
  std::vector<std::int32_t> input_ids, token_type_ids;  // (T)
  std::vector<std::int64_t> starts{0};                  // (S + 1): where each sequence begins, then T
  std::vector<std::int64_t>
      key_counts;                      // (S): tokens that serve as keys of attention; the rest of a sequence is padding
  std::vector<std::uint32_t> samples;  // (S): the sequence's number in the global batch; dropout is a function of it
  std::vector<std::int64_t> row_starts{0};  // (S + 1): 0, 1, ... S, the starts of an array with one row per sequence
  // Labels under transformers' names: "start_positions", "labels", ... Classes and positions are whole numbers;
  // the targets of regression (S) and of multi-label classification (S, labels) are floats.
  std::map<std::string, std::vector<std::int64_t>> labels;
  std::map<std::string, std::vector<float>> float_labels;
  // Items of several texts, each of which is a sequence: the first texts of all items, then their second texts, ...
  std::int64_t texts_per_item = 1;
  std::vector<std::int64_t> prompt_tokens;  // (S) or empty: the first tokens of each sequence that pooling leaves out

  std::int64_t tokens() const { return starts.back(); }
  std::int64_t sequences() const { return static_cast<std::int64_t>(key_counts.size()); }
  std::vector<std::int32_t> position_ids() const;          // (T): each token's place in its sequence, from 0 on
  void check_consistent() const;                           // an Error names the arrays that contradict each other
  Batch part(std::int64_t begin, std::int64_t end) const;  // sequences [begin, end), without labels

  // Appends a sequence, padded with `pad_id` up to `length` positions where that is longer than it is.
  void append(std::span<const std::int32_t> ids, std::span<const std::int32_t> type_ids, std::uint32_t sample,
              std::int64_t length = 0, std::int32_t pad_id = 0);
};

// A finished batch never changes and is shared: the tape of a forward pass keeps it until backward is done.
using BatchPtr = std::shared_ptr<const Batch>;
inline BatchPtr shared_batch(Batch batch) { return std::make_shared<const Batch>(std::move(batch)); }

}  // namespace hearth
