#pragma once

#include <cstdint>
#include <vector>

#include "hearth/kernels/attention/attention.h"

namespace hearth::kernels {

// Dropout's decisions for queries of one head: bit l of data[i * step + query] is set where the query keeps key
// 16 * i + l.
struct QueryMasks {
  std::uint16_t* data = nullptr;
  std::int64_t step = 0;
};

// Where AttentionArgs::masks holds the decisions of each sequence and head, for implementations that compute blocks of
// 32 queries. Queries are padded to whole blocks, keys to whole blocks of dropout (kDropoutBlock), so that a block of
// scores is read without a look at where the sequence ends. Forward writes all of it.
class KeptMasks {
 public:
  explicit KeptMasks(const AttentionArgs& args);
  // Masks grow with the square of the length; at this one they take two thirds of the memory of queries, keys and
  // values with heads of 64. Where a sequence is longer, backward computes dropout again.
  static constexpr std::int64_t kMostTokens = 2048;
  static std::int64_t bytes(const AttentionArgs& args);  // 0 without dropout, or with a sequence of more tokens

  // With step 0 and no data if the caller does not keep them.
  QueryMasks of(std::int64_t sequence, std::int64_t head) const;

 private:
  const AttentionArgs& args_;
  std::vector<std::int64_t> begins_;  // per sequence: where its first head begins; empty: nothing is kept
};

}  // namespace hearth::kernels
