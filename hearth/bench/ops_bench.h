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

// A kernel on a training step's sizes. Bytes are what it must read and write once; operations those of its formula,
// a root or an exponential counted as one.
struct OpsBenchRow {
  std::string op;
  double bytes = 0, flops = 0;
  double seconds = 0;       // mean of the rounds
  double copy_seconds = 0;  // to read and write as many bytes by a copy, measured in turn
  double gemm_seconds = 0;  // to do as many operations at the rate of the GEMM ceiling, measured in turn

  // What of its time the slower of the two would take.
  double share_of_limit() const;
};

std::vector<OpsBenchRow> bench_ops(const OpsBenchOptions& options);

std::vector<io::Json> to_json(const std::vector<OpsBenchRow>& rows, DType dtype);
std::string to_text(const std::vector<OpsBenchRow>& rows, DType dtype);

}  // namespace hearth::bench
