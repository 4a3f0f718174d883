#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hearth/base/dtype.h"
#include "hearth/bench/products.h"
#include "hearth/io/json_fwd.h"
#include "hearth/models/head.h"
#include "hearth/parallel/distributed_data_parallel.h"

namespace hearth::bench {

struct TrainBenchResult;

struct TrainBenchOptions {
  std::string model = "bert-base";                               // see model_config
  models::HeadKind head = models::HeadKind::question_answering;  // or sequence_classification, masked_lm
  std::optional<std::int64_t> freeze_layers;                     // models::Freezing
  std::int64_t batch = 12, seq = 384;
  DType dtype = DType::bf16;
  std::string optim = "adamw_torch";  // optim::optimizer_names()
  std::int64_t steps = 5, warmup = 2;
  std::string lengths;  // a file, see read_lengths; empty: every sequence has `seq` tokens
  std::string profile;  // a folder: where the time of the timed steps of rank 0 goes, see write_profile; empty: none
  parallel::DataParallelOptions distribution;
  // Called by rank 0 before each timed step, while the other ranks wait; `--in_turn` stops the process here.
  std::function<void(const TrainBenchResult& so_far)> before_step = [](const TrainBenchResult&) {};
};

struct TrainBenchResult {
  TrainBenchOptions options;
  int ranks = 1;
  std::string backend;                              // of the process group
  std::vector<double> seconds;                      // per timed step, until the last rank was done
  double tokens = 0, flops = 0;                     // of all timed steps and ranks
  Work ceiling;                                     // all measurements between the steps, all ranks together
  double ceiling_slowest = 0, ceiling_fastest = 0;  // GFLOP/s of single measurements
  std::string ceiling_impls;
  double waited = 0;      // seconds of all timed steps that a rank, on average, waited for data of other ranks
  double exposed = 0;     // the same on the rank that waited least in each step: communication that was not overlapped
  double bytes_sent = 0;  // of gradients, in all timed steps
  std::size_t peak_resident_bytes = 0;
  double peak_resident_bytes_of_all = 0;                        // the sum over the ranks
  double system_allocations = 0, page_faults = 0, skipped = 0;  // of all timed steps

  io::Json to_json() const;
  std::string to_text() const;
};

// Times training_step on random weights and tokens, and after each timed step measures the GEMM ceiling at
// its number of tokens. Every rank calls it and trains on its own batches.
TrainBenchResult bench_train(const TrainBenchOptions& options, const parallel::Team& team = {});

}  // namespace hearth::bench
