#include "hearth/kernels/gemm/gemm.h"

#include <algorithm>
#include <cassert>

#include "hearth/kernels/gemm/amx.h"
#include "hearth/kernels/gemm/onednn.h"
#include "hearth/kernels/gemm/reference.h"
#include "hearth/kernels/gemm/tiles.h"
#include "hearth/kernels/gemm/widen.h"

namespace hearth::kernels {
namespace {

constexpr GemmImpl kImpls[] = {
    {.name = "amx", .accepts = amx_accepts, .run = amx_gemm, .packed_bytes = amx_packed_bytes, .pack = amx_pack},
    {.name = "onednn", .accepts = onednn_accepts, .run = onednn_gemm},
    {.name = "widen", .accepts = widen_accepts, .run = widen_gemm, .emulates = true},
    {.name = "reference", .accepts = [](DType, cpu::Isa) { return true; }, .run = reference_gemm},
};

}  // namespace

std::span<const GemmImpl> gemm_impls() { return kImpls; }

const GemmImpl& choose_gemm(DType type, cpu::Isa isa) {
  return *std::ranges::find_if(kImpls, [&](const GemmImpl& impl) { return impl.accepts(type, isa); });
}

void gemm(const GemmArgs& args) { gemm_with(choose_gemm(args.type), args); }

void gemm_with(const GemmImpl& impl, const GemmArgs& args) {
  assert(!(args.accumulate && args.activation != Activation::none));
  if (args.m == 0 || args.n == 0) return;
  if (args.k == 0) return finish_empty_sum(args);
  impl.run(args);
}

}  // namespace hearth::kernels
