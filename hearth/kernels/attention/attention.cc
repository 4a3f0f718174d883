#include "hearth/kernels/attention/attention.h"

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/kernels/attention/blocked.h"
#include "hearth/kernels/attention/panels.h"
#include "hearth/kernels/attention/reference.h"

namespace hearth::kernels {
namespace {

constexpr AttentionImpl kImpls[] = {
    {"amx", attention_amx_accepts, attention_amx_forward, attention_amx_backward, attention_amx_mask_bytes},
    {"avx512_bf16", attention_avx512_bf16_accepts, attention_avx512_bf16_forward, attention_avx512_bf16_backward},
    {"blocked", attention_blocked_accepts, attention_blocked_forward, attention_blocked_backward},
    {"reference", [](const AttentionArgs&, cpu::Isa) { return true; }, attention_reference_forward,
     attention_reference_backward},
};

void check_args(const AttentionArgs& args) {
  const Sequences& sequences = args.sequences;
  for (std::int64_t s = 0; s < sequences.count(); ++s) {
    const std::int64_t length = sequences.starts[s + 1] - sequences.starts[s];
    check(length == 0 || (0 < sequences.key_counts[s] && sequences.key_counts[s] <= length),
          "[attention] sequence {} has {} tokens and {} keys; a softmax needs at least one key, and keys are tokens", s,
          length, sequences.key_counts[s]);
    check(!args.dropout.active() || length <= kDropoutPositions,
          "[attention] sequence {} has {} tokens; dropout of attention takes {} at most: cut the sequence, or set the "
          "model's attention dropout to 0",
          s, length, kDropoutPositions);
  }
  check(args.scale >= 0, "[attention] the scale must not be negative, got {}", args.scale);
}

}  // namespace

std::span<const AttentionImpl> attention_impls() { return kImpls; }

const AttentionImpl& choose_attention(const AttentionArgs& args, cpu::Isa isa) {
  return *std::ranges::find_if(kImpls, [&](const AttentionImpl& impl) { return impl.accepts(args, isa); });
}

std::int64_t attention_mask_bytes(const AttentionArgs& args) {
  const AttentionImpl& impl = choose_attention(args, cpu::isa());
  return impl.mask_bytes == nullptr ? 0 : impl.mask_bytes(args);
}

void attention_forward(const AttentionArgs& args) {
  check_args(args);
  choose_attention(args, cpu::isa()).forward(args);
}

void attention_backward(const AttentionArgs& args, const AttentionGradArgs& grads) {
  check_args(args);
  choose_attention(args, cpu::isa()).backward(args, grads);
}

}  // namespace hearth::kernels
