#pragma once

#include <string>
#include <vector>

#include "hearth/base/dtype.h"
#include "hearth/comm/process_group.h"
#include "hearth/io/json_fwd.h"

namespace hearth::bench {

struct AllReduceBenchOptions {
  std::vector<std::string> operations{"all_reduce"};  // also broadcast, all_gather, reduce_scatter
  // Bytes of the whole buffer; K, M and G stand for 10^3, 10^6 and 10^9.
  std::vector<std::string> sizes{"4K", "64K", "1M", "25M", "100M", "400M"};
  std::vector<DType> dtypes{DType::f32};
  std::int64_t rounds = 5, warmup = 1;
};

struct AllReduceBenchRow {
  std::string operation;
  DType dtype = DType::f32;
  std::size_t bytes = 0;        // of the whole buffer, the parts of all ranks together
  std::vector<double> seconds;  // per round, on the rank that took longest
  double bus_factor = 0;        // bytes that cross the link of each rank, divided by `bytes`

  double bus_bandwidth() const;  // bytes per second; 0 with one rank
};

// Every rank of the group calls it; all get the same rows.
std::vector<AllReduceBenchRow> bench_all_reduce(comm::ProcessGroup& group, const AllReduceBenchOptions& options);

// The group that was measured; `library` is the library behind its backend.
struct Communication {
  std::string backend, library;
  int ranks = 1;
};
std::vector<io::Json> to_json(const std::vector<AllReduceBenchRow>& rows, const Communication& by);
std::string to_text(const std::vector<AllReduceBenchRow>& rows, const Communication& by);

}  // namespace hearth::bench
