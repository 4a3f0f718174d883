#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hearth/base/dtype.h"
#include "hearth/bench/products.h"
#include "hearth/io/json_fwd.h"
#include "hearth/parallel/data_parallel.h"

namespace hearth::bench {

struct TrainBenchResult;

struct TrainBenchOptions {
  std::string model = "bert-base";  // see model_config
  std::int64_t batch = 12, seq = 384;
  DType dtype = DType::bf16;
  std::int64_t steps = 5, warmup = 2;
  std::string lengths;  // a file, see read_lengths; empty: every sequence has `seq` tokens
  parallel::DataParallelOptions distribution;
  // Called by the first rank before each timed step, which the others wait for.
  std::function<void(const TrainBenchResult& so_far)> before_step = [](const TrainBenchResult&) {};
};

struct TrainBenchResult {
  TrainBenchOptions options;
  int ranks = 1;
  std::string backend;                              // of their group
  std::vector<double> seconds;                      // of each timed step, until the last rank was done
  double tokens = 0, flops = 0;                     // of all timed steps and ranks
  Work ceiling;                                     // of all measurements between them, of all ranks together
  double ceiling_slowest = 0, ceiling_fastest = 0;  // GFLOP/s of single measurements
  std::string ceiling_impls;
  double waited = 0;   // seconds of all timed steps in which a rank, on average, did nothing but wait for the others'
  double exposed = 0;  // the same of each step's last rank, the one that waited least: communication that nothing hid
  double bytes_sent = 0;  // of gradients, in all timed steps
  std::size_t peak_resident_bytes = 0;
  double peak_resident_bytes_of_all = 0;                        // the sum over the ranks
  double system_allocations = 0, page_faults = 0, skipped = 0;  // of all timed steps

  io::Json to_json() const;
  std::string to_text() const;
};

// Steps of question answering through training_step, on random weights; after each timed step the GEMM ceiling at its
// number of tokens. Each member of a team trains on batches of its own and calls this.
TrainBenchResult bench_train(const TrainBenchOptions& options, const parallel::Team& team = {});

}  // namespace hearth::bench
