#include "hearth/base/random.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <utility>

namespace hearth {
namespace {

// Written from the paper: a round is two multiplications, the words swapped and mixed with the key.
PhiloxCounter philox_by_the_paper(PhiloxCounter r, std::uint32_t k0, std::uint32_t k1, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const auto key0 = static_cast<std::uint32_t>(k0 + std::uint64_t{0x9E3779B9} * static_cast<unsigned>(i));
    const auto key1 = static_cast<std::uint32_t>(k1 + std::uint64_t{0xBB67AE85} * static_cast<unsigned>(i));
    const auto [l0, r0, l1, r1] = r;
    const std::uint64_t a = 0xD2511F53ull * l0, b = 0xCD9E8D57ull * l1;
    r[0] = static_cast<std::uint32_t>(b / (1ull << 32)) ^ r0 ^ key0;
    r[1] = static_cast<std::uint32_t>(b % (1ull << 32));
    r[2] = static_cast<std::uint32_t>(a / (1ull << 32)) ^ r1 ^ key1;
    r[3] = static_cast<std::uint32_t>(a % (1ull << 32));
  }
  return r;
}

TEST(Philox, PublishedAnswersForSevenRounds) {
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxCounter{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}));
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (PhiloxCounter{0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a}));
}

TEST(Philox, AgreesWithThePaper) {
  PhiloxCounter counter = {1, 2, 3, 4};
  PhiloxKey key = {5, 6};
  for (int i = 0; i < 1'000; ++i) {
    const PhiloxCounter next = philox(counter, key);
    ASSERT_EQ(next, philox_by_the_paper(counter, key.lo, key.hi, 7));
    counter = next;
    key = {next[1], next[2]};
  }
}

TEST(Philox, EveryPartOfTheKeyMatters) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> keys;
  const std::uint64_t high = std::uint64_t{1} << 32;
  int count = 0;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, high})
    for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{1}, high})
      for (const std::uint64_t site : {std::uint64_t{0}, std::uint64_t{1}, high}) {
        const PhiloxKey key = philox_key(seed, step, site);
        keys.emplace(key.lo, key.hi);
        ++count;
      }
  EXPECT_EQ(keys.size(), static_cast<std::size_t>(count));
}

}  // namespace
}  // namespace hearth
