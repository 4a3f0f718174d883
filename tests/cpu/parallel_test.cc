#include "hearth/cpu/parallel.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/cpu/topology.h"

namespace hearth::cpu {
namespace {

class Parallel : public testing::TestWithParam<int> {
 protected:
  Parallel() { set_num_threads(GetParam()); }
  ~Parallel() override { set_num_threads(0); }
};

INSTANTIATE_TEST_SUITE_P(Threads, Parallel, testing::Values(1, 2, 5));

TEST_P(Parallel, EveryIndexOnce) {
  for (const std::int64_t count : {0, 1, 2, 3, 7, 64, 1000}) {
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
    parallel_for(count, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
    EXPECT_TRUE(std::all_of(runs.begin(), runs.end(), [](const auto& n) { return n == 1; })) << count;
  }
  parallel_for(-3, [](std::int64_t) { FAIL(); });
}

TEST_P(Parallel, EveryIndexOfEveryLoopOnce) {
  for (const std::vector<std::int64_t>& counts :
       {std::vector<std::int64_t>{}, {0}, {3, 0, 100}, {1, 1}, {-2, 17}, {64, 5, 1000, 2}}) {
    std::vector<std::vector<std::atomic<int>>> runs;
    for (const std::int64_t count : counts)
      runs.emplace_back(static_cast<std::size_t>(std::max<std::int64_t>(0, count)));
    parallel_loops(counts, [&](std::size_t loop, std::int64_t i) { ++runs[loop][static_cast<std::size_t>(i)]; });
    for (const auto& of_loop : runs)
      EXPECT_TRUE(std::all_of(of_loop.begin(), of_loop.end(), [](const auto& n) { return n == 1; }));
  }
}

TEST_P(Parallel, NestedCallsRunInPlace) {
  std::atomic<int> runs = 0, elsewhere = 0;
  parallel_for(8, [&](std::int64_t) {
    const auto thread = std::this_thread::get_id();
    parallel_for(9, [&](std::int64_t) {
      ++runs;
      elsewhere += std::this_thread::get_id() != thread;
    });
  });
  EXPECT_EQ(runs, 72);
  EXPECT_EQ(elsewhere, 0);
}

TEST_P(Parallel, SeveralThreadsMayCallIt) {
  constexpr std::int64_t kCallers = 4, kCount = 1000;
  std::vector<std::vector<int>> runs(kCallers, std::vector<int>(kCount));
  std::vector<std::thread> callers;
  for (auto& mine : runs)
    callers.emplace_back([&mine] {
      for (int round = 0; round < 5; ++round)
        parallel_for(kCount, [&](std::int64_t i) { ++mine[static_cast<std::size_t>(i)]; });
    });
  for (std::thread& caller : callers) caller.join();
  for (const auto& mine : runs) EXPECT_EQ(mine, std::vector<int>(kCount, 5));
}

TEST_P(Parallel, LibrariesStartNoThreadsInsideATask) {
  std::atomic<int> largest = 0;
  parallel_for(16, [&](std::int64_t) {
    const int team = omp_get_max_threads();  // of a parallel region in a library
    int seen = largest;
    while (seen < team && !largest.compare_exchange_weak(seen, team)) {
    }
  });
  EXPECT_EQ(largest, 1);
}

TEST_P(Parallel, AnExceptionArrives) {
  try {
    parallel_for(100, [](std::int64_t i) { check(i != 37, "task {} failed", i); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "task 37 failed");
  }
  int ran = 0;
  parallel_for(1, [&](std::int64_t) { ++ran; });
  EXPECT_EQ(ran, 1);
}

TEST_P(Parallel, AnExceptionOutOfANestedCallArrives) {
  EXPECT_THROW(
      parallel_for(6, [](std::int64_t) { parallel_for(3, [](std::int64_t) { throw std::out_of_range("x"); }); }),
      std::out_of_range);
}

TEST_P(Parallel, ChunksDependOnSizesAlone) {
  const auto chunks_of = [](std::int64_t size, std::int64_t length) {
    std::mutex mutex;
    std::set<std::pair<std::int64_t, std::int64_t>> chunks;
    parallel_chunks(size, length, [&](std::int64_t begin, std::int64_t end) {
      const std::lock_guard lock(mutex);
      chunks.emplace(begin, end);
    });
    return chunks;
  };
  using Chunks = std::set<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(chunks_of(0, 4), Chunks{});
  EXPECT_EQ(chunks_of(3, 4), (Chunks{{0, 3}}));
  EXPECT_EQ(chunks_of(8, 4), (Chunks{{0, 4}, {4, 8}}));
  EXPECT_EQ(chunks_of(9, 4), (Chunks{{0, 4}, {4, 8}, {8, 9}}));
}

TEST(NumThreads, KeepsToTheProcessorTimeOfTheControlGroup) {
  Topology topology;
  topology.usable_cores = 64;
  EXPECT_EQ(default_threads(topology), 64);
  for (const auto& [quota, threads] :
       {std::pair{0.1, 1}, {1.0, 1}, {1.5, 2}, {2.0, 2}, {63.2, 64}, {64.0, 64}, {1e12, 64}}) {
    topology.processor_quota = quota;
    EXPECT_EQ(default_threads(topology), threads) << quota;
  }
}

TEST(NumThreads, OfARuntimeThatIsNamed) {
  const std::string runtime = openmp_runtime();
  EXPECT_NE(runtime.find("omp"), std::string::npos) << runtime;
  EXPECT_NE(runtime.find(", specification 20"), std::string::npos) << runtime;
}

TEST(NumThreads, IsWhatWasSet) {
  const int at_start = num_threads();
  EXPECT_GE(at_start, 1);
  set_num_threads(3);
  EXPECT_EQ(num_threads(), 3);
  EXPECT_THROW(set_num_threads(-1), Error);
  EXPECT_THROW(set_num_threads(kMostThreads + 1), Error);
  EXPECT_EQ(num_threads(), 3);
  set_num_threads(0);
  EXPECT_EQ(num_threads(), at_start);
}

}  // namespace
}  // namespace hearth::cpu
