#include "hearth/bench/random_numbers.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "hearth/kernels/rows/elementwise.h"

namespace hearth::bench {

void fill_randomly(const Tensor& tensor) {
  constexpr std::int64_t kBlock = 1 << 16;
  std::mt19937 random(42);
  const Tensor numbers({kBlock}, DType::f32), block({kBlock}, tensor.type());
  for (std::int64_t i = 0; i < kBlock; ++i)
    numbers.data<float>()[i] = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
  kernels::convert(DType::f32, numbers.raw(), tensor.type(), block.raw(), kBlock);
  for (std::size_t done = 0; done < tensor.bytes(); done += block.bytes())
    std::memcpy(static_cast<std::byte*>(tensor.raw()) + done, block.raw(),
                std::min(block.bytes(), tensor.bytes() - done));
}

}  // namespace hearth::bench
