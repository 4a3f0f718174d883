#pragma once

#include <string>
#include <vector>

#include "hearth/base/dtype.h"
#include "hearth/io/json_fwd.h"

namespace hearth::bench {

struct OpsBenchOptions {
  std::string model = "bert-base";  // see model_config
  std::int64_t batch = 12, seq = 384;
  DType dtype = DType::bf16;
  std::int64_t rounds = 5;
};

// A kernel at the sizes of a training step. `bytes`: what it must read and write at least. `flops`: the operations of
// its formula, with a square root or an exponential counted as one.
struct OpsBenchRow {
  std::string op;
  double bytes = 0, flops = 0;
  double seconds = 0;       // mean of the rounds
  double copy_seconds = 0;  // of a copy that moves the same bytes, measured in turn
  double gemm_seconds = 0;  // of the same operations at the GEMM ceiling, measured in turn

  // The slower of the two limits, divided by the kernel's time.
  double share_of_limit() const;
};

std::vector<OpsBenchRow> bench_ops(const OpsBenchOptions& options);

std::vector<io::Json> to_json(const std::vector<OpsBenchRow>& rows, DType dtype);
std::string to_text(const std::vector<OpsBenchRow>& rows, DType dtype);

}  // namespace hearth::bench
