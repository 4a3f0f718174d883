#include "hearth/kernels/gemm/peak.h"

#include <algorithm>
#include <cstring>

#include "hearth/base/timer.h"
#include "hearth/cpu/memory.h"
#include "hearth/kernels/gemm/gemm.h"

namespace hearth::kernels {

double measure_matmul_rate(DType type) {
  constexpr std::int64_t kRows = 2048, kSize = 768;
  constexpr double kSeconds = 0.1;
  const auto bytes = [&](std::int64_t count) { return static_cast<std::size_t>(count) * size_of(type); };
  GemmArgs product;
  product.m = kRows;
  product.n = product.k = kSize;
  product.type = product.c_type = type;
  product.lda = product.ldb = product.ldc = kSize;
  product.b_transposed = true;
  void* buffers[] = {cpu::pool_allocate(bytes(kRows * kSize)), cpu::pool_allocate(bytes(kSize * kSize)),
                     cpu::pool_allocate(bytes(kRows * kSize))};
  std::memset(buffers[0], 0, bytes(kRows * kSize));
  std::memset(buffers[1], 0, bytes(kSize * kSize));
  product.a = buffers[0];
  product.b = buffers[1];
  product.c = buffers[2];
  gemm(product);
  double best = 0;
  for (const Timer all; all.seconds() < kSeconds;) {
    const Timer one;
    gemm(product);
    best = std::max(best, 2.0 * kRows * kSize * kSize / one.seconds());
  }
  for (void* buffer : buffers) cpu::pool_free(buffer);
  return best;
}

}  // namespace hearth::kernels
