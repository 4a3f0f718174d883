#include "hearth/bench/allreduce_bench.h"

#include <mutex>

#include "hearth/comm/thread_world.h"
#include "hearth/io/json.h"
#include "tests/support.h"

namespace hearth::bench {
namespace {

AllReduceBenchOptions quick() {
  AllReduceBenchOptions options;
  options.sizes = {"4", "10K"};
  options.rounds = 2;
  return options;
}

TEST(AllReduceBench, EveryOperationAndFormat) {
  AllReduceBenchOptions options = quick();
  options.operations = {"all_reduce", "broadcast", "all_gather", "reduce_scatter"};
  options.dtypes = {DType::f32, DType::bf16};
  std::vector<AllReduceBenchRow> rows[3];
  comm::run_threads(3, [&](comm::ProcessGroup& group) { rows[group.rank()] = bench_all_reduce(group, options); });
  ASSERT_EQ(rows[0].size(), 16u);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(rows[0][i].seconds, rows[2][i].seconds);
    EXPECT_EQ(rows[0][i].seconds.size(), 2u);
    EXPECT_GT(rows[0][i].bus_bandwidth(), 0);
  }
  EXPECT_EQ(rows[0][0].bytes, 12u);    // at least one number per rank
  EXPECT_EQ(rows[0][1].bytes, 9996u);  // the same number of elements for every rank
  EXPECT_EQ(rows[0][3].bytes, 9996u);
  EXPECT_EQ(rows[0][0].bus_factor, 4.0 / 3);
  EXPECT_EQ(rows[0][4].bus_factor, 1);
  EXPECT_EQ(rows[0][8].bus_factor, 2.0 / 3);
  EXPECT_EQ(rows[0][12].bus_factor, 2.0 / 3);
}

TEST(AllReduceBench, OneProcessHasNoLink) {
  const auto group = comm::self_group();
  const auto rows = bench_all_reduce(*group, quick());
  const Communication by{"self", "one process", 1};
  const auto lines = to_json(rows, by);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].at("operation"), "all_reduce");
  EXPECT_EQ(lines[1].at("bytes"), 10'000);
  EXPECT_EQ(lines[1].at("ranks"), 1);
  EXPECT_EQ(lines[1].at("backend"), "self");
  EXPECT_EQ(lines[1].at("bus_gb_per_second"), 0);
  for (const char* key : {"seconds", "seconds_median", "seconds_min", "seconds_max"})
    EXPECT_GT(lines[1].at(key).get<double>(), 0) << key;
  EXPECT_TRUE(contains(to_text(rows, by), "1 ranks over self (one process)"));
}

TEST(AllReduceBench, RefusesWhatItDoesNotKnow) {
  const auto group = comm::self_group();
  const auto error_with = [&](const std::string& operation, const std::string& size) {
    AllReduceBenchOptions options;
    options.operations = {operation};
    options.sizes = {size};
    return error_of([&] { bench_all_reduce(*group, options); });
  };
  EXPECT_TRUE(contains(error_with("allreduce", "1K"), "'allreduce' is not a known operation"));
  for (const char* size : {"", "K", "0", "-4", "4X", "4KB", "2000G", "99999999999999999999"})
    EXPECT_TRUE(contains(error_with("all_reduce", size), "is not a message size")) << size;
}

}  // namespace
}  // namespace hearth::bench
