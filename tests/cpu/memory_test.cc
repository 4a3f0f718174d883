#include "hearth/cpu/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "hearth/base/error.h"
#include "tests/support.h"

namespace hearth::cpu {
namespace {

struct Piece {
  unsigned char* data;
  std::size_t bytes;
  unsigned char mark;
};

Piece take(std::size_t bytes, unsigned char mark) {
  auto* const data = static_cast<unsigned char*>(pool_allocate(bytes));
  std::memset(data, mark, bytes);
  return {data, bytes, mark};
}

bool intact(const Piece& piece) {
  return std::all_of(piece.data, piece.data + piece.bytes, [&](unsigned char byte) { return byte == piece.mark; });
}

void churn(unsigned seed, int rounds) {
  std::mt19937 random(seed);
  std::vector<Piece> pieces;
  for (int round = 0; round < rounds; ++round) {
    if (pieces.size() < 40 && random() % 5 < 3) {
      const std::size_t bytes = random() % 10 == 0 ? random() % 600'000 : random() % 3'000;
      pieces.push_back(take(bytes, static_cast<unsigned char>(random())));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pieces.back().data) % kAlignment, 0u);
    } else if (!pieces.empty()) {
      std::swap(pieces[random() % pieces.size()], pieces.back());
      EXPECT_TRUE(intact(pieces.back()));
      pool_free(pieces.back().data);
      pieces.pop_back();
    }
  }
  for (const Piece& piece : pieces) {
    EXPECT_TRUE(intact(piece));
    pool_free(piece.data);
  }
}

TEST(Memory, BlocksNeverOverlapAndAllComesBack) {
  const std::size_t before = pool_stats().in_use_bytes;
  for (unsigned seed = 1; seed <= 5; ++seed) churn(seed, 2'000);
  EXPECT_EQ(pool_stats().in_use_bytes, before);
}

TEST(Memory, ManyThreads) {
  const std::size_t before = pool_stats().in_use_bytes;
  std::vector<std::thread> threads;
  for (unsigned seed = 11; seed <= 14; ++seed) threads.emplace_back([seed] { churn(seed, 1'000); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool_stats().in_use_bytes, before);
}

TEST(Memory, ARepeatedStepDoesNotGrow) {
  churn(21, 2'000);
  const PoolStats first = pool_stats();
  for (int step = 0; step < 5; ++step) churn(21, 2'000);
  const PoolStats last = pool_stats();
  EXPECT_EQ(last.growths, first.growths);
  EXPECT_EQ(last.peak_bytes, first.peak_bytes);
  EXPECT_GT(last.allocations, first.allocations);
}

TEST(Memory, StatsCount) {
  const PoolStats before = pool_stats();
  void* const data = pool_allocate(1'000'000);
  const PoolStats during = pool_stats();
  EXPECT_EQ(during.allocations, before.allocations + 1);
  EXPECT_GE(during.in_use_bytes, before.in_use_bytes + 1'000'000);
  EXPECT_GE(during.peak_bytes, during.in_use_bytes);
  pool_free(data);
  EXPECT_EQ(pool_stats().in_use_bytes, before.in_use_bytes);
}

TEST(Memory, NeighboursJoinInEveryOrderOfFreeing) {
  if (kSanitized) GTEST_SKIP() << "the pool is replaced by the heap under a sanitizer";
  constexpr std::size_t bytes = 50'000;
  std::array<int, 3> order = {0, 1, 2};
  do {
    std::array<void*, 3> pieces;
    for (void*& piece : pieces) piece = pool_allocate(bytes);
    void* const fence = pool_allocate(1);
    const std::uint64_t growths = pool_stats().growths;
    for (const int i : order) pool_free(pieces[static_cast<std::size_t>(i)]);
    void* const whole = pool_allocate(3 * bytes);
    EXPECT_EQ(whole, pieces[0]);
    EXPECT_EQ(pool_stats().growths, growths);
    pool_free(whole);
    pool_free(fence);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Memory, TheLowestFitIsTaken) {
  if (kSanitized) GTEST_SKIP() << "the pool is replaced by the heap under a sanitizer";
  void* const low = pool_allocate(20'000);
  void* const fence = pool_allocate(64);
  void* const high = pool_allocate(20'000);
  void* const end = pool_allocate(64);
  pool_free(high);
  pool_free(low);
  void* const again = pool_allocate(20'000);
  EXPECT_EQ(again, low);
  for (void* piece : {again, fence, end}) pool_free(piece);
}

TEST(Memory, LargeNeighboursBeginAtDifferentPlacesInAPage) {
  if (kSanitized) GTEST_SKIP() << "the pool is replaced by the heap under a sanitizer";
  constexpr std::size_t bytes = 4608 * 768 * 2;
  std::vector<void*> pieces;
  std::vector<std::uintptr_t> places;
  for (int i = 0; i < 8; ++i) {
    pieces.push_back(pool_allocate(bytes));
    places.push_back(reinterpret_cast<std::uintptr_t>(pieces.back()) % 4096);
  }
  std::sort(places.begin(), places.end());
  EXPECT_EQ(std::adjacent_find(places.begin(), places.end()), places.end());
  for (void* piece : pieces) pool_free(piece);
}

TEST(Memory, ABlockLargerThanACommitStepIsWritableAndUsedAgain) {
  constexpr std::size_t bytes = std::size_t{200} << 20;
  const PoolStats before = pool_stats();
  const Piece piece = take(bytes, 0xA5);
  EXPECT_TRUE(intact(piece));
  EXPECT_GE(pool_stats().in_use_bytes - before.in_use_bytes, bytes);
  pool_free(piece.data);
  EXPECT_EQ(pool_stats().in_use_bytes, before.in_use_bytes);
  if (kSanitized) return;
  EXPECT_GE(pool_stats().high_water_bytes, bytes);
  const std::uint64_t growths = pool_stats().growths;
  void* const again = pool_allocate(bytes);
  EXPECT_EQ(again, piece.data);
  EXPECT_EQ(pool_stats().growths, growths);
  pool_free(again);
}

TEST(Memory, ZeroBytesAndNull) {
  void* const a = pool_allocate(0);
  void* const b = pool_allocate(0);
  EXPECT_NE(a, nullptr);
  EXPECT_NE(a, b);
  pool_free(a);
  pool_free(b);
  pool_free(nullptr);
}

TEST(Memory, OutOfMemoryNamesTheBytes) {
  for (const std::size_t bytes : {std::size_t{1} << 60, ~std::size_t{0}}) {
    try {
      pool_allocate(bytes);
      FAIL();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(bytes)), std::string::npos) << error.what();
    }
  }
  pool_free(pool_allocate(1));
}

}  // namespace
}  // namespace hearth::cpu
