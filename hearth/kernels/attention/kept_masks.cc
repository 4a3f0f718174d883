#include "hearth/kernels/attention/kept_masks.h"

#include "hearth/base/rounding.h"
#include "hearth/kernels/gemm/panels.h"

namespace hearth::kernels {
namespace {

std::int64_t padded_length(const Sequences& sequences, std::int64_t s) {
  return round_up(sequences.starts[s + 1] - sequences.starts[s], panels::kPanel);
}

// The size of one head's masks, in numbers of 16 bits.
std::int64_t size_of_sequence(const Sequences& sequences, std::int64_t s) {
  return round_up(sequences.key_counts[s], kDropoutBlock) / 16 * padded_length(sequences, s);
}

}  // namespace

KeptMasks::KeptMasks(const AttentionArgs& args) : args_(args) {
  if (args.masks == nullptr || !args.dropout.active()) return;
  begins_.reserve(static_cast<std::size_t>(args.sequences.count()));
  std::int64_t begin = 0;
  for (std::int64_t s = 0; s < args.sequences.count(); ++s) {
    begins_.push_back(begin);
    begin += args.heads * size_of_sequence(args.sequences, s);
  }
}

std::int64_t KeptMasks::bytes(const AttentionArgs& args) {
  if (!args.dropout.active()) return 0;
  std::int64_t size = 0;
  for (std::int64_t s = 0; s < args.sequences.count(); ++s) {
    if (args.sequences.starts[s + 1] - args.sequences.starts[s] > kMostTokens) return 0;
    size += size_of_sequence(args.sequences, s);
  }
  return args.heads * size * static_cast<std::int64_t>(sizeof(std::uint16_t));
}

QueryMasks KeptMasks::of(std::int64_t sequence, std::int64_t head) const {
  if (begins_.empty()) return {};
  return {
      args_.masks + begins_[static_cast<std::size_t>(sequence)] + head * size_of_sequence(args_.sequences, sequence),
      padded_length(args_.sequences, sequence)};
}

}  // namespace hearth::kernels
