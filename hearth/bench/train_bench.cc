#include "hearth/bench/train_bench.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>

#include "hearth/base/timer.h"
#include "hearth/bench/gemm_ceiling.h"
#include "hearth/bench/model_config.h"
#include "hearth/bench/spread.h"
#include "hearth/bench/workload.h"
#include "hearth/cpu/memory.h"
#include "hearth/cpu/parallel.h"
#include "hearth/cpu/system.h"
#include "hearth/io/json.h"
#include "hearth/models/pretrained.h"
#include "hearth/train/training_step.h"

namespace hearth::bench {
namespace {

// How often memory was taken from the system, as far as the process can tell: the tensors' pool has grown, the heap
// has, or a block of its own was mapped.
struct SystemMemory {
  std::uint64_t pool_growths = cpu::pool_stats().growths;
  struct mallinfo2 heap = mallinfo2();

  double allocations_since(const SystemMemory& before) const {
    const std::uint64_t mapped = heap.hblks > before.heap.hblks ? heap.hblks - before.heap.hblks : 0;
    const std::uint64_t heap_growths = heap.arena > before.heap.arena ? 1 : 0;
    return static_cast<double>(pool_growths - before.pool_growths + mapped + heap_growths);
  }
};

double faults_of(const cpu::ProcessUsage& usage) {
  return static_cast<double>(usage.minor_faults + usage.major_faults);
}

}  // namespace

TrainBenchResult bench_train(const TrainBenchOptions& options) {
  check(options.batch >= 1 && options.seq >= 1 && options.steps >= 1 && options.warmup >= 0,
        "[bench_train] a batch of {} sequences of {} tokens, {} steps after {}", options.batch, options.seq,
        options.steps, options.warmup);
  std::vector<std::int64_t> lengths;
  if (!options.lengths.empty()) lengths = read_lengths(options.lengths, options.seq);
  const auto model = models::build_model(model_config(options.model), models::Head::question_answering, 42);
  check(options.seq <= model->max_positions(), "--seq {} is longer than {} can read, {} positions", options.seq,
        options.model, model->max_positions());
  const nn::EncoderConfig& encoder = model->encoder().config();
  const auto optimizer = optim::make_optimizer({}, model->parameters());
  optim::LossScaler scaler(options.dtype == DType::f16);
  GemmCeiling ceiling(encoder, options.dtype);
  Workload workload(encoder, options.batch, options.seq, std::move(lengths));

  TrainBenchResult result;
  result.options = options;
  for (std::int64_t step = 0; step < options.warmup + options.steps; ++step) {
    const Batch batch = workload.next();
    const SystemMemory memory_before;
    const double faults_before = faults_of(cpu::process_usage());
    const Timer timer;
    const StepResult done = training_step(*model, *optimizer, scaler, std::span(&batch, 1),
                                          static_cast<std::uint64_t>(step), 3e-5, {.compute = options.dtype});
    const double seconds = timer.seconds();
    const double faults = faults_of(cpu::process_usage()) - faults_before;
    const double system_allocations = SystemMemory().allocations_since(memory_before);
    result.peak_resident_bytes = cpu::process_usage().peak_resident_bytes;
    const Work measured = ceiling.measure(batch.tokens());
    if (step < options.warmup) continue;

    result.seconds.push_back(seconds);
    result.page_faults += faults;
    result.system_allocations += system_allocations;
    result.tokens += static_cast<double>(batch.tokens());
    result.flops += model->training_flops(batch);
    result.skipped += done.skipped ? 1 : 0;
    result.ceiling += measured;
    const bool first = result.seconds.size() == 1;
    result.ceiling_slowest = first ? measured.gflops() : std::min(result.ceiling_slowest, measured.gflops());
    result.ceiling_fastest = std::max(result.ceiling_fastest, measured.gflops());
  }
  result.ceiling_impls = ceiling.impl_names();
  return result;
}

io::Json TrainBenchResult::to_json() const {
  const Spread spread = spread_of(seconds);
  const double steps = static_cast<double>(seconds.size()), all_seconds = spread.mean * steps;
  const double gflops = flops / all_seconds / 1e9;
  return {{"bench", "train"},
          {"model", options.model},
          {"batch", options.batch},
          {"seq", options.seq},
          {"lengths", options.lengths},
          {"dtype", name_of(options.dtype)},
          {"threads", cpu::num_threads()},
          {"isa", cpu::name_of(cpu::isa())},
          {"steps", seconds.size()},
          {"warmup", options.warmup},
          {"seconds_per_step", spread.mean},
          {"seconds_per_step_median", spread.median},
          {"seconds_per_step_min", spread.min},
          {"seconds_per_step_max", spread.max},
          {"tokens_per_step", tokens / steps},
          {"tokens_per_second", tokens / all_seconds},
          {"sequences_per_second", static_cast<double>(options.batch) / spread.mean},
          {"model_gflops", gflops},
          {"gemm_ceiling_gflops", ceiling.gflops()},
          {"gemm_ceiling_impls", ceiling_impls},
          {"share_of_ceiling", gflops / ceiling.gflops()},
          {"peak_rss_bytes", peak_resident_bytes},
          {"allocations_per_step", system_allocations / steps},
          {"page_faults_per_step", page_faults / steps},
          {"skipped_steps", skipped}};
}

std::string TrainBenchResult::to_text() const {
  const io::Json json = to_json();
  const Spread spread = spread_of(seconds);
  const auto number = [&](const char* key) { return json.at(key).get<double>(); };
  std::string text =
      fmt::format("{}, batch {}, {}, {}, {} threads, {}\n", options.model, options.batch,
                  options.lengths.empty() ? fmt::format("every position of {} computed", options.seq)
                                          : fmt::format("lengths of {}, nothing padded", options.lengths),
                  name_of(options.dtype), cpu::num_threads(), cpu::name_of(cpu::isa()));
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<22} {}\n", name, value);
  };
  row("seconds a step",
      fmt::format("{:.4g} mean, {:.4g} median, {:.4g} to {:.4g} ({} steps after {} of warm-up)", spread.mean,
                  spread.median, spread.min, spread.max, seconds.size(), options.warmup));
  row("tokens/s", fmt::format("{:.1f} ({:.0f} tokens a step)", number("tokens_per_second"), number("tokens_per_step")));
  row("sequences/s", fmt::format("{:.2f}", number("sequences_per_second")));
  row("model GFLOP/s", fmt::format("{:.1f} (6 x encoder weights x tokens + attention)", number("model_gflops")));
  row("GEMM ceiling GFLOP/s", fmt::format("{:.1f}, from {:.1f} to {:.1f} after single steps", ceiling.gflops(),
                                          ceiling_slowest, ceiling_fastest));
  row("",
      fmt::format("(all operations over all time of an encoder layer's bare products, forward, input gradient and"));
  row("", fmt::format(" weight gradient, at each step's tokens, measured after each timed step, each product by the"));
  row("", fmt::format(" fastest implementation: {})", ceiling_impls));
  row("share of the ceiling", fmt::format("{:.1f}%", 100 * number("share_of_ceiling")));
  row("peak memory", fmt::format("{:.2f} GiB", number("peak_rss_bytes") / (1 << 30)));
  row("allocations a step", fmt::format("{:.1f} from the system", number("allocations_per_step")));
  row("page faults a step", fmt::format("{:.1f}", number("page_faults_per_step")));
  if (skipped > 0) row("skipped steps", fmt::format("{:.0f}: fp16 overflowed, no update in their time", skipped));
  return text;
}

}  // namespace hearth::bench
