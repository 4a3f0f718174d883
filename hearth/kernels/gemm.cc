#include "hearth/kernels/gemm.h"

#include <algorithm>
#include <cassert>

#include "hearth/kernels/gemm_amx.h"
#include "hearth/kernels/gemm_onednn.h"
#include "hearth/kernels/gemm_reference.h"
#include "hearth/kernels/gemm_tiles.h"
#include "hearth/kernels/gemm_widen.h"

namespace hearth::kernels {
namespace {

constexpr GemmImpl kImpls[] = {
    {"amx", amx_accepts, amx_gemm, amx_packed_bytes, amx_pack},
    {"onednn", onednn_accepts, onednn_gemm},
    {"widen", widen_accepts, widen_gemm},
    {"reference", [](DType, cpu::Isa) { return true; }, reference_gemm},
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
