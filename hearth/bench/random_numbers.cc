#include "hearth/bench/random_numbers.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "hearth/kernels/elementwise.h"

namespace hearth::bench {

void fill_randomly(const Tensor& tensor) {
  constexpr std::int64_t kBlock = 1 << 16;
  std::mt19937 random(42);
  std::vector<float> numbers(kBlock);
  for (float& number : numbers) number = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
  const Tensor block({kBlock}, tensor.type());
  kernels::convert(DType::f32, numbers.data(), tensor.type(), block.raw(), kBlock);
  for (std::size_t done = 0; done < tensor.bytes(); done += block.bytes())
    std::memcpy(static_cast<std::byte*>(tensor.raw()) + done, block.raw(),
                std::min(block.bytes(), tensor.bytes() - done));
}

}  // namespace hearth::bench
