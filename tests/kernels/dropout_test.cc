#include "hearth/kernels/rows/dropout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/kernels/reference/reference.h"
#include "tests/kernels/buffers.h"
#include "tests/kernels/sequences.h"

namespace hearth::kernels {
namespace {

const Dropout kDropout{0.1f, philox_key(42, 7, 3)};

TEST(Dropout, MatchesItsDefinition) {
  const OneThread one_thread;
  const PackedSequences sequences({3, 0, 1, 30});
  for (const DType type : kFormats) {
    for (std::int64_t cols = 0; cols <= 300; cols += cols < 34 ? 1 : 19) {
      Buffer x(type, 34 * cols, 1), y(type, 34 * cols), expected(type, 34 * cols);
      dropout_rows(type, sequences.view(), cols, kDropout, x.data(), y.data());
      reference::dropout_rows(type, sequences.view(), cols, kDropout, x.data(), expected.data());
      ASSERT_EQ(y, expected) << name_of(type) << ", " << cols << " columns";
      dropout_rows(type, sequences.view(), cols, kDropout, x.data(), x.data());
      ASSERT_EQ(x, y) << "in place";
    }
  }
}

// Element 128 b + 64 h + 16 w + l takes half h of word w of lane l.
TEST(Dropout, TakesItsBitsFromPhilox) {
  const PhiloxKey key = philox_key(1, 2, 3);
  const auto words = philox({16 * 2 + 5, 9, 11, 0}, key);
  const std::uint32_t low = words[3] & 0xffff, high = words[3] >> 16;
  const auto probability = [](std::uint32_t threshold) { return static_cast<float>(threshold) / 65536.0f; };
  EXPECT_TRUE(dropout_keeps({probability(low), key}, 11, 9, 2 * 128 + 3 * 16 + 5));
  EXPECT_FALSE(dropout_keeps({probability(low + 1), key}, 11, 9, 2 * 128 + 3 * 16 + 5));
  EXPECT_TRUE(dropout_keeps({probability(high), key}, 11, 9, 2 * 128 + 64 + 3 * 16 + 5));
  EXPECT_FALSE(dropout_keeps({probability(high + 1), key}, 11, 9, 2 * 128 + 64 + 3 * 16 + 5));
}

TEST(Dropout, KeepsItsShare) {
  const PackedSequences sequences({500, 500});
  constexpr std::int64_t kCols = 768, kCount = 1000 * kCols;
  Buffer ones(DType::f32, kCount), y(DType::f32, kCount);
  for (std::int64_t i = 0; i < kCount; ++i) ones.set(i, 1);
  for (const float p : {0.1f, 0.5f, 0.9f}) {
    dropout_rows(DType::f32, sequences.view(), kCols, {p, philox_key(42, 1, 0)}, ones.data(), y.data());
    double kept = 0;
    for (std::int64_t i = 0; i < kCount; ++i) kept += y.at(i) != 0;
    const double sigma = std::sqrt(p * (1 - p) / kCount);
    EXPECT_NEAR(kept / kCount, 1 - p, 4 * sigma);
    EXPECT_NEAR(*std::max_element(y.floats(), y.floats() + kCount), 1 / (1 - p), 1e-6);
  }
}

// Pairs of elements that Philox computes from counters and keys that differ in little, or takes from one word.
TEST(Dropout, NeighboursAreIndependent) {
  struct Place {
    std::uint64_t seed = 42, step = 3, site = 5;
    std::uint32_t sample = 0, row = 0, element = 0;
  };
  const std::vector<std::pair<std::string_view, void (*)(Place&)>> neighbours = {
      {"next element", [](Place& x) { x.element += 1; }},
      {"same lane, next word", [](Place& x) { x.element += 16; }},
      {"other half of the word", [](Place& x) { x.element += 64; }},
      {"next block", [](Place& x) { x.element += 128; }},
      {"next row", [](Place& x) { x.row += 1; }},
      {"second next row", [](Place& x) { x.row += 2; }},
      {"next row, next element", [](Place& x) { ++x.row, ++x.element; }},
      {"next head of attention", [](Place& x) { x.row += 65536; }},
      {"next sample", [](Place& x) { x.sample += 1; }},
      {"row and sample exchanged", [](Place& x) { std::swap(x.row, x.sample); }},
      {"next site", [](Place& x) { x.site += 1; }},
      {"next step", [](Place& x) { x.step += 1; }},
      {"next seed", [](Place& x) { x.seed += 1; }},
  };
  constexpr std::uint32_t kSamples = 4, kRows = 128, kElements = 512;
  constexpr double kCount = kSamples * kRows * kElements;
  for (const float p : {0.1f, 0.5f}) {
    const auto keeps = [&](const Place& x) {
      return dropout_keeps({p, philox_key(x.seed, x.step, x.site)}, x.sample, x.row, x.element);
    };
    const double share = 1 - Dropout{p, {}}.threshold() / 65536.0;
    for (const auto& [name, move] : neighbours) {
      double product = 0;
      for (std::uint32_t sample = 1000; sample < 1000 + kSamples; ++sample)
        for (std::uint32_t row = 0; row < kRows; ++row)
          for (std::uint32_t element = 0; element < kElements; ++element) {
            const Place here{.sample = sample, .row = row, .element = element};
            Place there = here;
            move(there);
            product += (keeps(here) - share) * (keeps(there) - share);
          }
      const double correlation = product / kCount / (share * (1 - share));
      EXPECT_LT(std::abs(correlation), 5 / std::sqrt(kCount)) << name << ", p " << p;
    }
  }
}

// Each lane, word and half of a block on its own, and each row.
TEST(Dropout, KeepsItsShareEverywhere) {
  constexpr std::uint32_t kRows = 4096, kElements = 256;
  for (const float p : {0.1f, 0.5f}) {
    const Dropout dropout{p, philox_key(42, 1, 0)};
    const double share = 1 - dropout.threshold() / 65536.0;
    std::vector<double> of_element(kElements);
    double all = 0;
    const auto expect_share = [&](double kept, double count, std::string_view what) {
      EXPECT_NEAR(kept / count, share, 5 * std::sqrt(share * (1 - share) / count)) << what << ", p " << p;
    };
    for (std::uint32_t row = 0; row < kRows; ++row) {
      double of_row = 0;
      for (std::uint32_t element = 0; element < kElements; ++element) {
        const bool kept = dropout_keeps(dropout, 7, row, element);
        of_row += kept;
        of_element[element] += kept;
      }
      all += of_row;
      expect_share(of_row, kElements, "a row");
    }
    for (const double kept : of_element) expect_share(kept, kRows, "an element");
    expect_share(all, double{kRows} * kElements, "all");
  }
}

TEST(Dropout, FollowsTheSampleNotItsPlace) {
  constexpr std::int64_t kCols = 200;
  const std::vector<std::int64_t> starts_a = {0, 2, 5}, keys_a = {2, 3}, starts_b = {0, 3}, keys_b = {3};
  const std::vector<std::uint32_t> samples_a = {4, 8}, samples_b = {8};
  Buffer x(DType::f32, 5 * kCols, 1), a(DType::f32, 5 * kCols), b(DType::f32, 3 * kCols);
  dropout_rows(DType::f32, {starts_a, keys_a, samples_a}, kCols, kDropout, x.data(), a.data());
  dropout_rows(DType::f32, {starts_b, keys_b, samples_b}, kCols, kDropout, x.floats() + 2 * kCols, b.data());
  for (std::int64_t i = 0; i < 3 * kCols; ++i) ASSERT_EQ(a.at(2 * kCols + i), b.at(i));
}

TEST(Dropout, OfZeroCopiesAndOfOneClears) {
  const PackedSequences sequences({7});
  Buffer x(DType::f16, 7 * 40, 1), y(DType::f16, 7 * 40), zero = y;
  dropout_rows(DType::f16, sequences.view(), 40, {}, x.data(), y.data());
  EXPECT_EQ(y, x);
  dropout_rows(DType::f16, sequences.view(), 40, {1.0f, {}}, x.data(), y.data());
  for (std::int64_t i = 0; i < y.size(); ++i) ASSERT_EQ(y.at(i), 0);
}

TEST(Dropout, DoesNotDependOnThreads) {
  const PackedSequences sequences({100, 57, 300});
  Buffer x(DType::bf16, 457 * 100, 1);
  expect_same_for_any_threads([&] {
    Buffer y(DType::bf16, 457 * 100);
    dropout_rows(DType::bf16, sequences.view(), 100, kDropout, x.data(), y.data());
    return y;
  });
}

}  // namespace
}  // namespace hearth::kernels
