#include "hearth/kernels/gemm/gemm.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "hearth/kernels/gemm/onednn.h"
#include "hearth/kernels/gemm/panel_gemm.h"
#include "hearth/kernels/gemm/reference.h"
#include "hearth/kernels/gemm/tiles.h"
#include "hearth/kernels/gemm/widen.h"

namespace hearth::kernels {
namespace {

constexpr GemmImpl kImpls[] = {
    {.name = "amx",
     .accepts = amx_accepts,
     .run = amx_gemm,
     .takes_bf16_blocks = true,
     .packed_bytes = panel_bytes,
     .pack = pack_panels},
    {.name = "avx512_bf16", .accepts = avx512_bf16_accepts, .run = avx512_bf16_gemm},
    {.name = "onednn", .accepts = onednn_accepts, .run = onednn_gemm},
    {.name = "widen", .accepts = widen_accepts, .run = widen_gemm, .emulates = true},
    {.name = "reference", .accepts = [](DType, cpu::Isa) { return true; }, .run = reference_gemm},
};

const GemmImpl* forced_impl = nullptr;  // of ForcedGemm; null: none lives
DType forced_type = DType::f32;

}  // namespace

std::span<const GemmImpl> gemm_impls() { return kImpls; }

ForcedGemm::ForcedGemm(DType type, const GemmImpl& impl) {
  assert(forced_impl == nullptr);
  forced_impl = &impl;
  forced_type = type;
}
ForcedGemm::~ForcedGemm() { forced_impl = nullptr; }

const GemmImpl& choose_gemm(DType type, cpu::Isa isa) {
  if (forced_impl != nullptr && forced_type == type) return *forced_impl;
  return *std::ranges::find_if(kImpls, [&](const GemmImpl& impl) { return impl.accepts(type, isa); });
}

bool takes_blocks(DType type) { return type == DType::bf16 && choose_gemm(type).takes_bf16_blocks; }

void gemm(const GemmArgs& args) { gemm_together({&args, 1}); }

void gemm_together(std::span<const GemmArgs> matmuls) {
  if (!matmuls.empty()) gemm_with(choose_gemm(matmuls.front().type), matmuls);
}

void gemm_with(const GemmImpl& impl, std::span<const GemmArgs> matmuls) {
  std::vector<GemmArgs> with_terms;
  for (const GemmArgs& args : matmuls) {
    assert(args.type == matmuls.front().type);
    assert(!(args.accumulate && args.activation != Activation::none));
    assert(args.slope_at == nullptr || (!args.accumulate && args.bias == nullptr && args.before_activation == nullptr));
    assert(args.activated == nullptr || args.slope_at != nullptr);
    assert(args.a_sums == nullptr || args.a_transposed);
    assert(args.c_squares == nullptr || is_weight_grad(args));
    assert(args.b_layout == Layout::rows || is_weight_grad(args));
    assert(args.c_layout == Layout::rows || (!is_weight_grad(args) && args.k > 0));
    assert(args.a_layout == Layout::rows || !args.a_transposed || is_weight_grad(args));
    assert(args.a_layout == Layout::rows || args.lda % kBlockSide == 0);
    assert(args.b_layout == Layout::rows || args.ldb % kBlockSide == 0);
    assert(args.c_layout == Layout::rows || args.ldc % kBlockSide == 0);
    assert((impl.takes_bf16_blocks && args.type == DType::bf16) ||
           (args.a_layout == Layout::rows && args.b_layout == Layout::rows && args.c_layout == Layout::rows));
    if (args.c_squares != nullptr) *args.c_squares = 0;
    if (args.k == 0)
      finish_empty_sum(args);
    else if (args.m > 0 && args.n > 0)
      with_terms.push_back(args);
  }
  if (!with_terms.empty()) impl.run(with_terms);
}

}  // namespace hearth::kernels
