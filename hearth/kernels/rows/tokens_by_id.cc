#include "hearth/kernels/rows/tokens_by_id.h"

namespace hearth::kernels {

void TokensById::assign(std::int64_t tokens, const std::int32_t* ids, std::int64_t rows, std::int32_t padding_id) {
  constexpr std::int32_t kGroupTokens = 32;
  const auto row_of = [&](std::int64_t token) { return static_cast<std::size_t>(ids[token]); };
  if (head_.size() < static_cast<std::size_t>(rows)) {
    head_.resize(static_cast<std::size_t>(rows), -1);
    length_.resize(static_cast<std::size_t>(rows), 0);
  }
  next_.resize(static_cast<std::size_t>(tokens));
  heads_.clear();
  group_ends_.clear();

  for (std::int64_t token = tokens - 1; token >= 0; --token) {
    if (ids[token] == padding_id) continue;
    next_[static_cast<std::size_t>(token)] = head_[row_of(token)];
    head_[row_of(token)] = static_cast<std::int32_t>(token);
    ++length_[row_of(token)];
  }
  std::int32_t in_group = 0;
  for (std::int64_t token = 0; token < tokens; ++token) {
    if (ids[token] == padding_id || head_[row_of(token)] < 0) continue;
    heads_.push_back(head_[row_of(token)]);
    in_group += length_[row_of(token)];
    head_[row_of(token)] = -1;
    length_[row_of(token)] = 0;
    if (in_group >= kGroupTokens) {
      group_ends_.push_back(heads_.size());
      in_group = 0;
    }
  }
  if (in_group > 0) group_ends_.push_back(heads_.size());
}

std::span<const std::int32_t> TokensById::group(std::int64_t i) const {
  const auto index = static_cast<std::size_t>(i);
  const std::size_t begin = index == 0 ? 0 : group_ends_[index - 1];
  return std::span(heads_).subspan(begin, group_ends_[index] - begin);
}

}  // namespace hearth::kernels
