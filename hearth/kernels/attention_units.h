#pragma once

#include <cstdint>
#include <span>

#include "hearth/kernels/sequences.h"

namespace hearth::kernels {

// A piece of attention that one thread computes: the queries [begin, end) of one head of one sequence.
struct AttentionUnit {
  std::int64_t sequence, head, begin, end;
};

// All units of at most `rows` queries, the costliest sequences first, so that the threads end together. They depend on
// the sizes alone. Valid until the calling thread's next call.
std::span<const AttentionUnit> attention_units(const Sequences& sequences, std::int64_t heads, std::int64_t rows);

std::int64_t longest_sequence(const Sequences& sequences);

}  // namespace hearth::kernels
