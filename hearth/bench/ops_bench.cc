#include "hearth/bench/ops_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hearth/base/check.h"
#include "hearth/base/timer.h"
#include "hearth/bench/gemm_ceiling.h"
#include "hearth/bench/measured_ops.h"
#include "hearth/bench/model_config.h"
#include "hearth/bench/table.h"
#include "hearth/bench/workload.h"
#include "hearth/cpu/parallel.h"
#include "hearth/io/json.h"

namespace hearth::bench {
namespace {

// Mean seconds per call, over as many calls as fit into a short time.
double seconds_of(const std::function<void()>& call) {
  constexpr double kSeconds = 0.01;
  std::int64_t calls = 0;
  const Timer timer;
  do {
    call();
    ++calls;
  } while (timer.seconds() < kSeconds);
  return timer.seconds() / static_cast<double>(calls);
}

void copy(const Tensor& from, const Tensor& to, double bytes) {
  constexpr std::int64_t kChunk = 1 << 18;
  cpu::parallel_chunks(static_cast<std::int64_t>(bytes), kChunk, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(to.data<std::uint8_t>() + begin, from.data<std::uint8_t>() + begin,
                static_cast<std::size_t>(end - begin));
  });
}

}  // namespace

double OpsBenchRow::share_of_limit() const { return std::max(copy_seconds, gemm_seconds) / seconds; }

std::vector<OpsBenchRow> bench_ops(const OpsBenchOptions& options) {
  const nn::TransformerConfig config = transformer_config(model_config(options.model));
  check(options.seq <= config.positions, "--seq {} is longer than the limit of {}, {} positions", options.seq,
        options.model, config.positions);
  const Batch batch = Workload(config, options.batch, options.seq, {}).next();
  const std::vector<MeasuredOp> ops = measured_ops(config, batch, options.dtype);
  const double most_bytes = std::ranges::max(ops, {}, &MeasuredOp::bytes).bytes;
  const Tensor from = Tensor::zeros({static_cast<std::int64_t>(most_bytes / 2)}, DType::u8), to = from.clone();
  GemmCeiling ceiling(config, options.dtype);
  Work products;

  std::vector<OpsBenchRow> rows;
  for (const MeasuredOp& op : ops) {
    rows.push_back({op.name, op.bytes, op.flops});
    op.run();
  }
  const auto rounds = static_cast<double>(options.rounds);
  for (std::int64_t round = 0; round < options.rounds; ++round) {
    for (std::size_t i = 0; i < ops.size(); ++i) {
      rows[i].seconds += seconds_of(ops[i].run) / rounds;
      rows[i].copy_seconds += seconds_of([&] { copy(from, to, ops[i].bytes / 2); }) / rounds;
    }
    products += ceiling.measure(batch.tokens());
  }
  for (OpsBenchRow& row : rows) row.gemm_seconds = row.flops / (products.gflops() * 1e9);
  return rows;
}

std::vector<io::Json> to_json(const std::vector<OpsBenchRow>& rows, DType dtype) {
  std::vector<io::Json> lines;
  for (const OpsBenchRow& row : rows)
    lines.push_back({{"bench", "ops"},
                     {"op", row.op},
                     {"dtype", name_of(dtype)},
                     {"threads", cpu::num_threads()},
                     {"isa", cpu::name_of(cpu::isa())},
                     {"seconds", row.seconds},
                     {"bytes", row.bytes},
                     {"gigabytes_per_second", row.bytes / row.seconds / 1e9},
                     {"copy_gigabytes_per_second", row.bytes / row.copy_seconds / 1e9},
                     {"flops", row.flops},
                     {"gflops", row.flops / row.seconds / 1e9},
                     {"gemm_ceiling_gflops", row.flops > 0 ? row.flops / row.gemm_seconds / 1e9 : 0},
                     {"share_of_limit", row.share_of_limit()}});
  return lines;
}

std::string to_text(const std::vector<OpsBenchRow>& rows, DType dtype) {
  Table table({"op", "ms", "MB", "GB/s", "copy GB/s", "MFLOP", "GFLOP/s", "share of limit"});
  for (const OpsBenchRow& row : rows)
    table.add({row.op, fmt::format("{:.3f}", 1e3 * row.seconds), fmt::format("{:.1f}", row.bytes / 1e6),
               fmt::format("{:.1f}", row.bytes / row.seconds / 1e9),
               fmt::format("{:.1f}", row.bytes / row.copy_seconds / 1e9), fmt::format("{:.1f}", row.flops / 1e6),
               fmt::format("{:.1f}", row.flops / row.seconds / 1e9),
               fmt::format("{:.0f}%", 100 * row.share_of_limit())});
  return fmt::format(
      "{}{}, {} threads, {}. The limit is the slower of copying the same bytes and of doing the same operations\nat "
      "the "
      "GEMM ceiling, {:.0f} GFLOP/s, both measured in turn with the ops.\n",
      table.to_string(), name_of(dtype), cpu::num_threads(), cpu::name_of(cpu::isa()),
      rows.front().flops / rows.front().gemm_seconds / 1e9);
}

}  // namespace hearth::bench
