#include "hearth/bench/gemm_bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "hearth/base/timer.h"
#include "hearth/bench/model_config.h"
#include "hearth/bench/table.h"
#include "hearth/cpu/parallel.h"
#include "hearth/io/json.h"

namespace hearth::bench {
namespace {

// At least one run, and as many as fit into a short time.
void run_round(const ProductMemory& memory, const kernels::GemmImpl& impl, GemmBenchRow& row) {
  constexpr double kSeconds = 0.01;
  for (double seconds = 0; seconds < kSeconds;) {
    const Work run = memory.run(row.product, impl);
    seconds += run.seconds;
    row.all += run;
    if (run.gflops() > row.best.gflops()) row.best = run;
  }
}

std::vector<GemmBenchRow> bench_format(const std::vector<Product>& products, std::int64_t rounds) {
  const DType type = products.front().type;
  const std::vector<const kernels::GemmImpl*> impls = product_impls(type);
  const ProductMemory memory(products);
  std::vector<GemmBenchRow> rows;
  for (const kernels::GemmImpl* impl : impls)
    for (const Product& product : products) {
      rows.push_back({product, impl->name, impl == &kernels::choose_gemm(type, cpu::isa()), {}, {}});
      memory.run(product, *impl);
    }
  for (std::int64_t round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < rows.size(); ++i) run_round(memory, *impls[i / products.size()], rows[i]);
  return rows;
}

// The rows of all layers added up, one per dtype, implementation and pass. Each matmul counts once.
std::vector<GemmBenchRow> by_pass(const std::vector<GemmBenchRow>& rows) {
  std::vector<GemmBenchRow> sums;
  for (const GemmBenchRow& row : rows) {
    auto sum = std::ranges::find_if(sums, [&](const GemmBenchRow& other) {
      return other.product.type == row.product.type && other.impl == row.impl && other.product.pass == row.product.pass;
    });
    if (sum == sums.end()) {
      sum = sums.insert(sum, {row.product, row.impl, row.chosen, {}, {}});
      sum->product.layer = "all";
    }
    const double runs = row.all.flops / row.product.flops();
    sum->all += {row.product.flops(), row.all.seconds / runs};
    sum->best += row.best;
  }
  return sums;
}

}  // namespace

std::vector<GemmBenchRow> bench_gemm(const GemmBenchOptions& options) {
  const nn::TransformerConfig config = transformer_config(model_config(options.model));
  std::vector<GemmBenchRow> rows;
  for (const DType type : options.dtypes) {
    const auto of_format = bench_format(training_products(config, options.tokens, type), options.rounds);
    rows.insert(rows.end(), of_format.begin(), of_format.end());
  }
  return rows;
}

std::vector<io::Json> to_json(const std::vector<GemmBenchRow>& rows) {
  std::vector<io::Json> lines;
  const auto add = [&](const GemmBenchRow& row, bool single) {
    io::Json line{{"bench", "gemm"},      {"dtype", name_of(row.product.type)}, {"impl", row.impl},
                  {"chosen", row.chosen}, {"layer", row.product.layer},         {"pass", row.product.pass}};
    if (single) line.update({{"m", row.product.m}, {"n", row.product.n}, {"k", row.product.k}});
    line.update({{"gflops_mean", row.all.gflops()},
                 {"gflops_best", row.best.gflops()},
                 {"threads", cpu::num_threads()},
                 {"isa", cpu::name_of(cpu::isa())}});
    lines.push_back(std::move(line));
  };
  for (const GemmBenchRow& row : rows) add(row, true);
  for (const GemmBenchRow& row : by_pass(rows)) add(row, false);
  return lines;
}

std::string to_text(const std::vector<GemmBenchRow>& rows) {
  Table table({"dtype, implementation", "pass", "layer", "m x n x k", "GFLOP/s mean", "best"});
  const auto add = [&](const GemmBenchRow& row, const std::string& size) {
    table.add({fmt::format("{} {}{}", name_of(row.product.type), row.impl, row.chosen ? " *" : ""),
               std::string(row.product.pass), std::string(row.product.layer), size,
               fmt::format("{:.1f}", row.all.gflops()), fmt::format("{:.1f}", row.best.gflops())});
  };
  for (const GemmBenchRow& row : rows)
    add(row, fmt::format("{} x {} x {}", row.product.m, row.product.n, row.product.k));
  for (const GemmBenchRow& row : by_pass(rows)) add(row, "");
  return fmt::format("{}* used in training for this dtype; {} threads, {}\n", table.to_string(), cpu::num_threads(),
                     cpu::name_of(cpu::isa()));
}

}  // namespace hearth::bench
