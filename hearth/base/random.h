#pragma once

#include <array>
#include <cstdint>

#include "hearth/base/api.h"

namespace hearth {

// Philox 4x32 of Salmon et al. ("Parallel random numbers: as easy as 1, 2, 3"): a counter and a key in, four
// words out. Seven rounds are the fewest that pass BigCrush.
inline constexpr int kPhiloxRounds = 7;
inline constexpr std::uint32_t kPhiloxMultiplier0 = 0xD2511F53u, kPhiloxMultiplier1 = 0xCD9E8D57u;
inline constexpr std::uint32_t kPhiloxWeyl0 = 0x9E3779B9u, kPhiloxWeyl1 = 0xBB67AE85u;

struct PhiloxKey {
  std::uint32_t lo = 0, hi = 0;
};

using PhiloxCounter = std::array<std::uint32_t, 4>;

inline PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{kPhiloxMultiplier0} * counter[0];
    const std::uint64_t product1 = std::uint64_t{kPhiloxMultiplier1} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key.lo, static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key.hi, static_cast<std::uint32_t>(product0)};
    key.lo += kPhiloxWeyl0;
    key.hi += kPhiloxWeyl1;
  }
  return counter;
}

// Mixes numbers into a key: different (seed, step, site) give unrelated streams.
HEARTH_API PhiloxKey philox_key(std::uint64_t seed, std::uint64_t step, std::uint64_t site);

}  // namespace hearth
