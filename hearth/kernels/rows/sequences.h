#pragma once

#include <cstdint>
#include <span>

namespace hearth::kernels {

// How a row of T tokens is cut into sequences. Sequence s has the tokens [starts[s], starts[s + 1]); the first
// key_counts[s] of them are keys in attention, the others (padding, where it was asked for) only queries. samples[s] is
// the sequence's number in the global batch; dropout depends on that number, never on the sequence's place in the row.
struct Sequences {
  std::span<const std::int64_t> starts;      // (S + 1)
  std::span<const std::int64_t> key_counts;  // (S)
  std::span<const std::uint32_t> samples;    // (S)

  std::int64_t count() const { return static_cast<std::int64_t>(key_counts.size()); }
  std::int64_t tokens() const { return starts.empty() ? 0 : starts.back(); }
};

}  // namespace hearth::kernels
