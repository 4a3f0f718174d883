#include "hearth/kernels/attention/units.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace hearth::kernels {
namespace {

std::int64_t length_of(const Sequences& sequences, std::int64_t s) {
  return sequences.starts[s + 1] - sequences.starts[s];
}

}  // namespace

std::span<const AttentionUnit> attention_units(const Sequences& sequences, std::int64_t heads, std::int64_t rows) {
  static thread_local std::vector<std::int64_t> order;
  static thread_local std::vector<AttentionUnit> units;
  const auto length = [&](std::int64_t s) { return length_of(sequences, s); };

  order.resize(static_cast<std::size_t>(sequences.count()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::int64_t a, std::int64_t b) {
    return std::pair(length(b) * sequences.key_counts[b], a) < std::pair(length(a) * sequences.key_counts[a], b);
  });

  units.clear();
  for (const std::int64_t s : order)
    for (std::int64_t head = 0; head < heads; ++head)
      for (std::int64_t begin = 0; begin < length(s); begin += rows)
        units.push_back({s, head, begin, std::min(length(s), begin + rows)});
  return units;
}

std::int64_t longest_sequence(const Sequences& sequences) {
  std::int64_t longest = 0;
  for (std::int64_t s = 0; s < sequences.count(); ++s) longest = std::max(longest, length_of(sequences, s));
  return longest;
}

}  // namespace hearth::kernels
