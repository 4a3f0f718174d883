#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "hearth/base/dtype.h"
#include "hearth/cpu/isa.h"
#include "hearth/kernels/gemm/layout.h"
#include "hearth/kernels/rows/activation.h"

namespace hearth::kernels {

// C(m, n) = [C +] A(m, k) B(k, n) [+ bias] [then an activation], sums in f32.
// A and B have one dtype; a transposed operand is stored (k, m) or (n, k). With A transposed, k counts tokens.
// C is cut into fixed tiles, each summed by one thread in a fixed order: bits do not depend on the number of threads.
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
  const float* bias = nullptr;               // (n)
  Activation activation = Activation::none;  // applied to A B + bias, rounded to c_type
  void* before_activation = nullptr;         // (m, n) of c_type and ldc: A B + bias, kept for backward; may be null
  // (m, n) of c_type and ldc: C = A B times the activation's derivative here, and nothing else: A B is the gradient of
  // the activation's output, C that of its input. Null: A B is what the activation is applied to.
  const void* slope_at = nullptr;
  // (m, n) of c_type and ldc, only with slope_at: receives the activation of slope_at, and may lie where that does.
  void* activated = nullptr;       // null: not wanted
  const void* packed_b = nullptr;  // B as the implementation's `pack` made it; then b is not read
  // (m), where A is transposed: the sums of A over k. If C is the gradient of a weight, this is that of its bias.
  float* a_sums = nullptr;  // null: not wanted
  bool accumulate_a_sums = false;
  bool non_temporal = false;  // nothing reads C soon, and it has kLargeBytes: use non-temporal stores, where possible
  // The sum of squares of C, as it is stored, in f64; only for weight gradients (is_weight_grad).
  double* c_squares = nullptr;  // null: not wanted
  // Layouts of A and B as they are stored; c_layout is also that of before_activation, slope_at and activated. Blocks
  // are allowed where takes_blocks() is true; lda, ldb or ldc is then the number of columns, a multiple of kBlockSide.
  // B may be in blocks only in a weight gradient, C only outside of one.
  Layout a_layout = Layout::rows, b_layout = Layout::rows, c_layout = Layout::rows;
};

// An array of this size has left a core's L2 cache (2 MB on servers) when another part of the step reads it.
inline constexpr std::size_t kLargeBytes = std::size_t{1} << 20;

// Whether C is the f32 sums themselves, with nothing else to be done to them.
inline bool stores_sums(const GemmArgs& args) {
  return args.c_type == DType::f32 && args.bias == nullptr && args.activation == Activation::none &&
         args.before_activation == nullptr && args.slope_at == nullptr;
}
// A sum over tokens that is stored as it is.
inline bool is_weight_grad(const GemmArgs& args) {
  return args.a_transposed && !args.b_transposed && args.packed_b == nullptr && stores_sums(args);
}

// Packing a weight, the right operand of many matmuls: B(k, n) in f32 is rounded to `type` and written in the layout
// that the implementation reads. Where only some stored rows changed, [row_begin, row_end) names them; both are
// multiples of kPackedRows, or row_end is the number of rows.
inline constexpr std::int64_t kPackedRows = 32;
struct PackArgs {
  std::int64_t k = 0, n = 0;
  DType type = DType::bf16;
  const float* b = nullptr;
  std::int64_t ldb = 0;
  bool b_transposed = false;
  void* packed = nullptr;
  std::int64_t row_begin = 0, row_end = std::numeric_limits<std::int64_t>::max();
  bool non_temporal = false;  // use non-temporal stores: nothing reads the result soon
};

// Implementations, best first; the last, a plain reference, accepts everything. The choice depends on the processor and
// the dtype alone, never on a timing: results must repeat.
struct GemmImpl {
  std::string_view name;
  bool (*accepts)(DType, cpu::Isa);
  void (*run)(std::span<const GemmArgs>);  // in one parallel region, as far as possible
  bool emulates = false;                   // converts operands to fp32: exact, but no faster than fp32
  bool takes_bf16_blocks = false;          // Layout::blocks, in bf16 alone
  // Set where the implementation reads packed right operands, so that packing a weight once per step saves time.
  std::int64_t (*packed_bytes)(DType, std::int64_t k, std::int64_t n) = nullptr;
  void (*pack)(const PackArgs&) = nullptr;
};
std::span<const GemmImpl> gemm_impls();
const GemmImpl& choose_gemm(DType, cpu::Isa = cpu::isa());
// Whether matmuls of this dtype take matrices in blocks.
bool takes_blocks(DType type);

// For tests: while it lives, `impl` is chosen for `type`, on any processor. One at a time.
class ForcedGemm {
 public:
  ForcedGemm(DType type, const GemmImpl& impl);
  ~ForcedGemm();
  ForcedGemm(const ForcedGemm&) = delete;
  ForcedGemm& operator=(const ForcedGemm&) = delete;
};

void gemm(const GemmArgs&);
// Matmuls of one dtype that do not need each other's results, in one parallel region: the threads wait for each other
// once, and one matmul fills the gaps that another leaves.
void gemm_together(std::span<const GemmArgs>);
void gemm_with(const GemmImpl&, std::span<const GemmArgs>);

}  // namespace hearth::kernels
