#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "hearth/base/dtype.h"
#include "hearth/cpu/isa.h"
#include "hearth/kernels/activation.h"

namespace hearth::kernels {

// C(m, n) = [C +] A(m, k) B(k, n) [+ bias] [then an activation], sums in f32.
// A and B are of one format; a transposed operand is stored (k, m) or (n, k). With A transposed, k counts tokens.
// The result is cut into fixed tiles, each computed by one thread that adds up in a fixed order, so the bits do not
// depend on the number of threads.
struct GemmArgs {
  std::int64_t m = 0, n = 0, k = 0;
  DType type = DType::f32;  // of A and B
  const void* a = nullptr;
  std::int64_t lda = 0;
  bool a_transposed = false;
  const void* b = nullptr;
  std::int64_t ldb = 0;
  bool b_transposed = false;
  DType c_type = DType::f32;
  void* c = nullptr;
  std::int64_t ldc = 0;
  bool accumulate = false;
  const float* bias = nullptr;  // (n)
  Activation activation = Activation::none;
  void* before_activation = nullptr;  // (m, n) of c_type and ldc: A B + bias, kept for backward; may be null
  const void* packed_b = nullptr;     // B as the implementation's `pack` made it; then b is not read
};

// A right operand that many products share: B(k, n) in f32, to be rounded to `type` and packed. Where not all of it
// changed, rows of it as it is stored: from a multiple of kPackedRows to another, or the last.
inline constexpr std::int64_t kPackedRows = 32;
struct PackArgs {
  std::int64_t k = 0, n = 0;
  DType type = DType::bf16;
  const float* b = nullptr;
  std::int64_t ldb = 0;
  bool b_transposed = false;
  void* packed = nullptr;
  std::int64_t row_begin = 0, row_end = std::numeric_limits<std::int64_t>::max();
  bool past_cache = false;  // nothing reads it soon
};

// Implementations, best first; the last, a plain reference, accepts everything. Which one a format gets depends on
// the processor and the format alone, never on a timing: results must repeat.
struct GemmImpl {
  std::string_view name;
  bool (*accepts)(DType, cpu::Isa);
  void (*run)(const GemmArgs&);
  // Set where the implementation multiplies packed right operands, so that packing them once saves time.
  std::int64_t (*packed_bytes)(DType, std::int64_t k, std::int64_t n) = nullptr;
  void (*pack)(const PackArgs&) = nullptr;
};
std::span<const GemmImpl> gemm_impls();
const GemmImpl& choose_gemm(DType, cpu::Isa = cpu::isa());

void gemm(const GemmArgs&);
void gemm_with(const GemmImpl&, const GemmArgs&);

}  // namespace hearth::kernels
