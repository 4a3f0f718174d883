#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "hearth/base/dtype.h"
#include "hearth/cpu/isa.h"
#include "hearth/kernels/rows/dropout.h"
#include "hearth/kernels/rows/sequences.h"

namespace hearth::kernels {

// With dropout a sequence has at most this many tokens: rows of dropout would repeat those of the next head. A change
// of the number gives every run other masks.
inline constexpr std::int64_t kDropoutPositions = 65536;

// Scaled dot-product attention over packed sequences: for each sequence and head
//   P = softmax(scale * Q K^T) over the sequence's keys, O = dropout(P) V.
// Q, K, V are (T, heads * head_dim) inside rows of `stride` elements (so one (T, 3 H) matrix can hold all three);
// O is (T, heads * head_dim) dense. All have one dtype; sums, softmax and its statistics are f32. P is never
// stored: backward recomputes it from Q, K and `lse`. Dropout's decisions may be, one bit per element (`masks`).
// Dropout's row is head * kDropoutPositions + the query's position, its element the key's position.
struct AttentionArgs {
  DType type = DType::f32;
  Sequences sequences;
  std::int64_t heads = 0, head_dim = 0;
  std::int64_t stride = 0;
  const void *q = nullptr, *k = nullptr, *v = nullptr;
  float scale = 1;
  Dropout dropout;
  void* out = nullptr;   // (T, heads * head_dim)
  float* lse = nullptr;  // (heads, T): log of the softmax's denominator, written by forward, read by backward
  // attention_mask_bytes(args) bytes: dropout's decisions, written by forward, read by backward. Null: backward
  // computes them again, with the same result.
  std::uint16_t* masks = nullptr;
};

struct AttentionGradArgs {
  const void* dout = nullptr;                        // (T, heads * head_dim)
  void *dq = nullptr, *dk = nullptr, *dv = nullptr;  // rows of `dstride` elements, overwritten (padding's dk, dv: 0)
  std::int64_t dstride = 0;
};

// Implementations, best first; the last, a plain reference, accepts everything.
struct AttentionImpl {
  std::string_view name;
  bool (*accepts)(const AttentionArgs&, cpu::Isa);
  void (*forward)(const AttentionArgs&);
  void (*backward)(const AttentionArgs&, const AttentionGradArgs&);
  std::int64_t (*mask_bytes)(const AttentionArgs&) = nullptr;  // null: it does not use AttentionArgs::masks
};
std::span<const AttentionImpl> attention_impls();
const AttentionImpl& choose_attention(const AttentionArgs&, cpu::Isa);

// The size of AttentionArgs::masks for the implementation that would be chosen; 0: it keeps nothing.
std::int64_t attention_mask_bytes(const AttentionArgs&);

void attention_forward(const AttentionArgs&);
void attention_backward(const AttentionArgs&, const AttentionGradArgs&);

}  // namespace hearth::kernels
