#include "hearth/ops/precision.h"

#include <fmt/format.h>

#include "hearth/cpu/isa.h"
#include "hearth/kernels/gemm/gemm.h"

namespace hearth::ops {

std::optional<std::string> emulation_warning(DType compute) {
  if (compute == DType::f32 || !kernels::choose_gemm(compute).emulates) return std::nullopt;
  const bool bf16_is_fast = !kernels::choose_gemm(DType::bf16).emulates;
  return fmt::format(
      "{0} is emulated at the {1} level of this processor: matmuls convert their operands to fp32, which is exact but "
      "no "
      "faster than fp32; {2}",
      name_of(compute), cpu::name_of(cpu::isa()),
      compute == DType::f16 && bf16_is_fast ? "--bf16 is fast here"
                                            : "use fp32 for the same speed, or keep the flag to save memory");
}

}  // namespace hearth::ops
