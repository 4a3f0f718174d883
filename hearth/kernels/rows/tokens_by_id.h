#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hearth::kernels {

// The tokens of each id, in order, and the ids in groups of about the same number of tokens. Time and memory traffic
// grow with the number of tokens, not of ids; buffers are kept from call to call.
class TokensById {
 public:
  // Ids are below `rows`; tokens with `padding_id` are left out.
  void assign(std::int64_t tokens, const std::int32_t* ids, std::int64_t rows, std::int32_t padding_id);

  std::int64_t count() const { return static_cast<std::int64_t>(group_ends_.size()); }
  // The first token of each id of the group; next(t) is the next token with the id of token t, -1 after the last.
  std::span<const std::int32_t> group(std::int64_t i) const;
  std::int32_t next(std::int32_t token) const { return next_[static_cast<std::size_t>(token)]; }

 private:
  std::vector<std::int32_t> head_;    // (rows), -1 between calls
  std::vector<std::int32_t> length_;  // (rows), 0 between calls
  std::vector<std::int32_t> next_;    // (tokens)
  std::vector<std::int32_t> heads_;
  std::vector<std::size_t> group_ends_;
};

}  // namespace hearth::kernels
