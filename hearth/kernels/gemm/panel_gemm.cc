#include "hearth/kernels/gemm/panel_gemm.h"

#include "hearth/kernels/gemm/panel_product-inl.h"
#include "hearth/kernels/simd/amx_tiles.h"
#include "hearth/kernels/simd/vector_tiles.h"

namespace hearth::kernels {

bool amx_accepts(DType type, cpu::Isa isa) {
  return isa == cpu::Isa::amx && (type == DType::bf16 || type == DType::f16);
}

void amx_gemm(std::span<const GemmArgs> matmuls) { panels::run_together<panels::AmxTiles>(matmuls); }

bool avx512_bf16_accepts(DType type, cpu::Isa isa) {
  return type == DType::bf16 && isa >= cpu::Isa::avx512_bf16 && cpu::features().amd;
}

void avx512_bf16_gemm(std::span<const GemmArgs> matmuls) { panels::run_together<panels::VectorTiles>(matmuls); }

std::int64_t panel_bytes(DType type, std::int64_t k, std::int64_t n) { return 2 * panels::packed_elements(type, n, k); }

void pack_panels(const PackArgs& args) {
  static_assert(kPackedRows % panels::kPanel == 0 && kPackedRows % panels::kBlock == 0);
  panels::pack_rows({args.b, args.type, true, args.ldb, args.b_transposed, args.n, args.k, args.non_temporal},
                    panels::pack_right, static_cast<std::uint16_t*>(args.packed), args.row_begin, args.row_end);
}

}  // namespace hearth::kernels
