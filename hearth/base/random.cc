#include "hearth/base/random.h"

namespace hearth {

PhiloxKey philox_key(std::uint64_t seed, std::uint64_t step, std::uint64_t site) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  const PhiloxCounter words = philox({low(step), high(step), low(site), high(site)}, {low(seed), high(seed)});
  return {words[0], words[1]};
}

}  // namespace hearth
