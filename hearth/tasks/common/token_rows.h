#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hearth/data/array.h"
#include "hearth/tensor/batch.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tasks {

// The tokens of all items of a dataset in flat arrays. Row r has the tokens [starts[r], starts[r + 1]).
struct TokenRows {
  data::Array<std::int64_t> starts{0};
  data::Array<std::int32_t> ids;       // (tokens)
  data::Array<std::uint8_t> type_ids;  // (tokens)

  std::int64_t rows() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  std::int64_t tokens() const { return starts.back(); }
  std::int64_t length(std::int64_t row) const;
  std::span<const std::int32_t> ids_of(std::int64_t row) const { return of_row(ids, row); }
  std::span<const std::uint8_t> type_ids_of(std::int64_t row) const { return of_row(type_ids, row); }
  template <class T>
  std::span<const T> of_row(const data::Array<T>& array, std::int64_t row) const {  // `array` has one value per token
    return array.view().subspan(static_cast<std::size_t>(starts[static_cast<std::size_t>(row)]),
                                static_cast<std::size_t>(length(row)));
  }

  void append(const tokenizer::Encoding& encoding);
  void append(const TokenRows& rows);
  void keep_first(std::int64_t rows);  // for max_*_samples
  // Throws Error unless the arrays fit each other, every row has 1 to max_length tokens, and every token is one of the
  // vocabulary. For rows that were read from a file.
  void check_whole(std::int64_t vocab_size, std::int64_t max_length) const;
};

enum class Padding { packed, longest, max_length };  // none; to the longest row of the batch; to max_seq_length

struct CollateOptions {
  Padding padding = Padding::packed;
  std::int64_t max_seq_length = 384;    // for Padding::max_length
  std::int64_t pad_to_multiple_of = 1;  // for Padding::longest; the Trainer uses 8 with fp16
  std::int32_t pad_id = 0;
};

// The --pad_to_max_length of the run_*.py scripts; without it batches are packed.
Padding padding_of(const std::optional<bool>& pad_to_max_length);

// A batch of these rows, without labels. `first_sample` is the number of the first row in the global batch.
Batch collate(const TokenRows& rows, std::span<const std::int64_t> items, std::uint32_t first_sample,
              const CollateOptions& options);

}  // namespace hearth::tasks
