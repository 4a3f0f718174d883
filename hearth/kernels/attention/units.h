#pragma once

#include <cstdint>
#include <span>

#include "hearth/kernels/rows/sequences.h"

namespace hearth::kernels {

// A task of attention, computed by one thread: the queries [begin, end) of one head of one sequence.
struct AttentionUnit {
  std::int64_t sequence, head, begin, end;
};

// All units, each of at most `rows` queries, the costliest sequences first so that the threads end together. The cut
// depends on the sizes alone. Valid until the calling thread's next call.
std::span<const AttentionUnit> attention_units(const Sequences& sequences, std::int64_t heads, std::int64_t rows);

std::int64_t longest_sequence(const Sequences& sequences);

}  // namespace hearth::kernels
