#pragma once

#include <string>
#include <vector>

#include "hearth/bench/products.h"
#include "hearth/io/json_fwd.h"

namespace hearth::bench {

struct GemmBenchOptions {
  std::string model = "bert-base";  // see model_config
  std::int64_t tokens = 12 * 384;
  std::vector<DType> dtypes{DType::f32, DType::bf16, DType::f16};
  std::int64_t rounds = 5;
};

struct GemmBenchRow {
  Product product;
  std::string_view impl;
  bool chosen = false;  // training uses this implementation for the dtype
  Work all, best;       // of all runs, of the fastest
};

// Times every implementation of every dtype on every matmul of training, in turn, `rounds` times.
std::vector<GemmBenchRow> bench_gemm(const GemmBenchOptions& options);

// One line per row, then one per dtype, implementation and pass over all layers ("layer": "all").
std::vector<io::Json> to_json(const std::vector<GemmBenchRow>& rows);
std::string to_text(const std::vector<GemmBenchRow>& rows);

}  // namespace hearth::bench
