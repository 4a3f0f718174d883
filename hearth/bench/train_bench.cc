#include "hearth/bench/train_bench.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <optional>

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
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
#include "hearth/optim/loss_scaler.h"
#include "hearth/parallel/span_names.h"
#include "hearth/train/profile.h"
#include "hearth/train/training_step.h"

namespace hearth::bench {
namespace {

// How often memory was requested from the system, as far as the process can tell: the tensor pool grew, the heap grew,
// or a large block was mapped.
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

// In training the next step begins before the compute threads fall asleep. Here a ceiling is measured and memory is
// looked at between two steps, so the threads would have to be woken within the timed step.
void wake_threads() {
  cpu::parallel_for(cpu::num_threads(), [](std::int64_t) {});
}

// The next batch of this rank; batches go to the ranks in turn.
Batch next_batch(Workload& workload, const parallel::Team& team) {
  Batch mine;
  for (int rank = 0; rank < team.size(); ++rank) {
    Batch batch = workload.next();
    if (rank == team.rank()) mine = std::move(batch);
  }
  return mine;
}

// The ranks measure at the same time: their FLOPs are summed, their times averaged.
Work of_all_ranks(const Work& work, const parallel::Team& team) {
  std::array sums{work.flops, work.seconds};
  team.group().all_reduce(sums.data(), sums.size(), DType::f64)->wait();
  return {sums[0], sums[1] / team.size()};
}

double reduced(const parallel::Team& team, double value, comm::ReduceOp op) {
  team.group().all_reduce(&value, 1, DType::f64, op)->wait();
  return value;
}

double seconds_waited(const Profiler& profiler) {
  double seconds = 0;
  for (const Profiler::Total& total : profiler.totals())
    if (total.name == parallel::kWaitingForGradients || total.name == parallel::kSummingGradients ||
        total.name == parallel::kGatheringWeights)
      seconds += total.seconds;
  return seconds;
}

}  // namespace

TrainBenchResult bench_train(const TrainBenchOptions& options, const parallel::Team& team) {
  check(options.batch >= 1 && options.seq >= 1 && options.steps >= 1 && options.warmup >= 0,
        "[bench_train] batch, sequence length and steps must be at least 1, warm-up not negative: {}, {}, {}, {}",
        options.batch, options.seq, options.steps, options.warmup);
  std::vector<std::int64_t> lengths;
  if (!options.lengths.empty()) lengths = read_lengths(options.lengths, options.seq);
  const models::Freezing freezing{{}, options.freeze_layers};
  const auto model = models::build_model(model_config(options.model), options.head, 42, freezing);
  check(options.seq <= model->max_positions(), "--seq {} is longer than the limit of {}, {} positions", options.seq,
        options.model, model->max_positions());
  const nn::TransformerConfig& encoder = model->backbone_config();
  parallel::DistributedDataParallel ddp(model->parameters(), team, options.distribution);
  parallel::ShardedOptimizer optimizer({.name = options.optim}, ddp);
  optim::LossScaler scaler(options.dtype == DType::f16);
  GemmCeiling ceiling(encoder, options.dtype);
  Workload workload(encoder, options.batch, options.seq, std::move(lengths),
                    options.head == models::HeadKind::masked_lm ? Workload::Labels::of_masked_tokens
                                                                : Workload::Labels::of_sequences);

  TrainBenchResult result;
  result.options = options;
  result.options.distribution.partition.sharded = ddp.partition().sharded();
  result.ranks = team.size();
  result.backend = team.group().backend();
  std::optional<Profiler> profiler;
  double waited_before = 0;
  for (std::int64_t step = 0; step < options.warmup + options.steps; ++step) {
    const BatchPtr batch = shared_batch(next_batch(workload, team));
    if (step == options.warmup && (team.size() > 1 || !options.profile.empty()))
      profiler.emplace(options.profile.empty() ? Profiler::Threads::own : Profiler::Threads::all);
    if (step >= options.warmup && team.is_first()) options.before_step(result);
    team.barrier();
    const SystemMemory memory_before;
    const double faults_before = faults_of(cpu::process_usage());
    wake_threads();
    const Timer timer;
    const StepResult done = training_step(*model, ddp, optimizer, scaler, std::span(&batch, 1),
                                          static_cast<std::uint64_t>(step), 3e-5, {.compute = options.dtype});
    const double own_seconds = timer.seconds();
    Profiler::end_step();
    const double faults = faults_of(cpu::process_usage()) - faults_before;
    const double system_allocations = SystemMemory().allocations_since(memory_before);
    result.peak_resident_bytes = cpu::process_usage().peak_resident_bytes;
    const Work measured = of_all_ranks(ceiling.measure(batch->tokens()), team);
    if (step < options.warmup) continue;

    result.seconds.push_back(reduced(team, own_seconds, comm::ReduceOp::max));
    if (team.size() > 1) {
      const double waited = seconds_waited(*profiler) - waited_before;
      waited_before += waited;
      result.waited += reduced(team, waited, comm::ReduceOp::avg);
      result.exposed += reduced(team, waited, comm::ReduceOp::min);
      result.bytes_sent += static_cast<double>(ddp.reducer().launched_bytes());
    }
    result.page_faults += faults;
    result.system_allocations += system_allocations;
    result.tokens += done.tokens;
    result.flops += done.flops;
    result.skipped += done.skipped ? 1 : 0;
    result.ceiling += measured;
    const bool first = result.seconds.size() == 1;
    result.ceiling_slowest = first ? measured.gflops() : std::min(result.ceiling_slowest, measured.gflops());
    result.ceiling_fastest = std::max(result.ceiling_fastest, measured.gflops());
  }
  if (!options.profile.empty() && team.is_first()) write_profile(*profiler, options.profile);
  result.ceiling_impls = ceiling.impl_names();
  result.peak_resident_bytes_of_all =
      reduced(team, static_cast<double>(result.peak_resident_bytes), comm::ReduceOp::sum);
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
          {"optim", options.optim},
          {"ranks", ranks},
          {"backend", backend},
          {"sharded_optimizer", options.distribution.partition.sharded},
          {"ddp_wire_dtype", name_of(options.distribution.wire)},
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
          {"sequences_per_second", static_cast<double>(ranks * options.batch) / spread.mean},
          {"model_gflops", gflops},
          {"gemm_ceiling_gflops", ceiling.gflops()},
          {"gemm_ceiling_impls", ceiling_impls},
          {"share_of_ceiling", gflops / ceiling.gflops()},
          {"seconds_waited_per_step", waited / steps},
          {"seconds_exposed_per_step", exposed / steps},
          {"bytes_sent_per_step", bytes_sent / steps},
          {"peak_rss_bytes", peak_resident_bytes},
          {"peak_rss_bytes_of_all_ranks", peak_resident_bytes_of_all},
          {"allocations_per_step", system_allocations / steps},
          {"page_faults_per_step", page_faults / steps},
          {"skipped_steps", skipped}};
}

std::string TrainBenchResult::to_text() const {
  const io::Json json = to_json();
  const Spread spread = spread_of(seconds);
  const auto number = [&](const char* key) { return json.at(key).get<double>(); };
  std::string text =
      fmt::format("{}, batch {}, {}, {}, {}, {} threads, {}\n", options.model, options.batch,
                  options.lengths.empty() ? fmt::format("every position of {} computed", options.seq)
                                          : fmt::format("lengths of {}, nothing padded", options.lengths),
                  name_of(options.dtype), options.optim, cpu::num_threads(), cpu::name_of(cpu::isa()));
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<22} {}\n", name, value);
  };
  if (ranks > 1)
    row("ranks", fmt::format("{} over {}, each with the batch and threads above; tokens/s, sequences/s, GFLOP/s and "
                             "memory are totals of all ranks; "
                             "allocations and page faults are those of rank 0{}{}",
                             ranks, backend, options.distribution.partition.sharded ? "; sharded optimizer" : "",
                             options.distribution.wire == DType::bf16 ? "; bf16 on the wire" : ""));
  row("seconds per step",
      fmt::format("{:.4g} mean, {:.4g} median, {:.4g} to {:.4g} ({} steps after {} of warm-up)", spread.mean,
                  spread.median, spread.min, spread.max, seconds.size(), options.warmup));
  row("tokens/s",
      fmt::format("{:.1f} ({:.0f} tokens per step)", number("tokens_per_second"), number("tokens_per_step")));
  row("sequences/s", fmt::format("{:.2f}", number("sequences_per_second")));
  row("model GFLOP/s", fmt::format("{:.1f} (6 x encoder weights x tokens + attention)", number("model_gflops")));
  row("GEMM ceiling GFLOP/s", fmt::format("{:.1f}, from {:.1f} to {:.1f} after single steps", ceiling.gflops(),
                                          ceiling_slowest, ceiling_fastest));
  row("",
      fmt::format("(total FLOPs over total time of the bare matmuls of an encoder layer, forward, input gradient and"));
  row("", fmt::format(" weight gradient, at each step's tokens, measured after each timed step, each matmul by the"));
  row("", fmt::format(" fastest implementation: {})", ceiling_impls));
  row("share of the ceiling", fmt::format("{:.1f}%", 100 * number("share_of_ceiling")));
  if (ranks > 1)
    row("waiting",
        fmt::format(
            "{:.4g} s per step and rank for gradients and weights of other ranks: {:.4g} for communication, the "
            "rest for slower ranks",
            number("seconds_waited_per_step"), number("seconds_exposed_per_step")));
  row("peak memory",
      fmt::format("{:.2f} GiB{}", number("peak_rss_bytes_of_all_ranks") / (1 << 30),
                  ranks > 1 ? fmt::format(", {:.2f} of it on rank 0", number("peak_rss_bytes") / (1 << 30)) : ""));
  row("allocations per step", fmt::format("{:.1f} from the system", number("allocations_per_step")));
  row("page faults per step", fmt::format("{:.1f}", number("page_faults_per_step")));
  if (skipped > 0)
    row("skipped steps",
        fmt::format("{:.0f}: gradients overflowed in fp16; these steps are timed without an optimizer update",
                    skipped));
  return text;
}

}  // namespace hearth::bench
