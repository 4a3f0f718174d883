#include "hearth/kernels/gemm/amx.h"

#include "hearth/kernels/gemm/amx-inl.h"

namespace hearth::kernels {

bool amx_accepts(DType type, cpu::Isa isa) {
  return isa == cpu::Isa::amx && (type == DType::bf16 || type == DType::f16);
}

void amx_gemm(std::span<const GemmArgs> matmuls) { amx::run_together<amx::Tiles>(matmuls); }

std::int64_t amx_packed_bytes(DType type, std::int64_t k, std::int64_t n) {
  return 2 * amx::packed_elements(type, n, k);
}

void amx_pack(const PackArgs& args) {
  static_assert(kPackedRows % amx::kPanel == 0 && kPackedRows % amx::kBlock == 0);
  amx::pack_rows({args.b, args.type, true, args.ldb, args.b_transposed, args.n, args.k, args.non_temporal},
                 amx::pack_right, static_cast<std::uint16_t*>(args.packed), args.row_begin, args.row_end);
}

}  // namespace hearth::kernels
