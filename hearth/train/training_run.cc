#include "hearth/train/training_run.h"

#include <algorithm>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/cpu/system.h"
#include "hearth/data/collate.h"
#include "hearth/data/prefetch.h"
#include "hearth/data/sampler.h"
#include "hearth/kernels/gemm/peak.h"
#include "hearth/train/agreed_values.h"
#include "hearth/train/batch_size.h"
#include "hearth/train/best_metric.h"
#include "hearth/train/fault.h"
#include "hearth/train/profile.h"
#include "hearth/train/results.h"

namespace hearth {
namespace {

constexpr std::size_t kStepsAhead = 2;
constexpr std::int64_t kStepsPerSample = 64;  // of a run that is watched, one in so many steps is profiled
constexpr std::int64_t kFirstSample = 2;      // the first steps take memory and are slower
constexpr std::int64_t kStepsPerMemory = 16;  // how often a rank looks at its memory

const Dataset& train_data_of(const TrainerCore& core) {
  const TrainingArguments& args = core.args;
  check((args.eval_strategy == Strategy::no && !args.eval_on_start) || core.can_evaluate(),
        "{} needs something to evaluate on",
        args.eval_on_start ? "--eval_on_start" : fmt::format("--eval_strategy {}", name_of(args.eval_strategy)));
  check(core.options.train_dataset != nullptr,
        "[Trainer::train] there is no data to train on: give TrainerOptions a train_dataset");
  return *core.options.train_dataset;
}

std::int64_t matmul_parameters_of(const ParameterStore& store) {
  std::int64_t count = 0;
  for (const auto& parameter : store.parameters())
    if (!parameter->is_embedding) count += parameter->shape.size();
  return count;
}

}  // namespace

TrainingRun::TrainingRun(Trainer& trainer, TrainerCore& core, const std::optional<std::filesystem::path>& checkpoint)
    : core_(core),
      train_data_(train_data_of(core)),
      stage_(core.memory, "train"),
      ddp_(core.model->parameters(), core.team(), data_parallel_options(core.args, core.team())),
      optimizer_(optimizer_options(core.args), ddp_),
      scaler_(core.args.fp16),
      plan_(find_plan(checkpoint)),
      learning_rate_(core.args, plan_.max_steps),
      nan_guard_(core.args, core.team()),
      checkpoints_(core, {*core.model, optimizer_, scaler_, core.state, learning_rate_.plateau()}, learning_rate_),
      actions_(trainer, core, learning_rate_, nan_guard_, checkpoints_),
      matmul_parameters_(matmul_parameters_of(core.model->parameters())) {
  if (core_.team().size() > 1)
    core_.team().check_agreement({{"the list of callbacks", core_.callbacks.makes_requests() ? "not empty" : "empty"}});
  if (core_.team().is_first()) learning_rate_.warn_of_opposite_mode();
  resume(checkpoint);
  announce(plan_, core_.args, train_data_, core_.model->parameters().trainable_count());
  core_.steps = {};
  core_.speed = core_.is_quiet() && !core_.options.is_watched
                    ? Speed()
                    : Speed([format = core_.args.train_dtype()] { return kernels::measure_matmul_rate(format); });
  first_step_ = core_.state.global_step;
  core_.was_finished = checkpoint && is_finished();
  if (core_.was_finished) actions_.end_run();
  core_.was_interrupted = false;
}

// A resumed run starts with the batch size that was found before, as the Trainer does.
TrainingPlan TrainingRun::find_plan(const std::optional<std::filesystem::path>& checkpoint) {
  if (core_.args.auto_find_batch_size) {
    std::int64_t& batch = core_.args.per_device_train_batch_size;
    const std::int64_t found_before = checkpoint ? TrainerState::load(*checkpoint).train_batch_size : 0;
    if (found_before > 0) batch = std::min(batch, found_before);
    batch = find_batch_size(*core_.model, train_data_, batch, core_.step_options(), core_.team());
  }
  return make_plan(core_.args, train_data_, core_.team().size());
}

void TrainingRun::resume(const std::optional<std::filesystem::path>& checkpoint) {
  core_.state = {};
  if (checkpoint) checkpoints_.resume(*checkpoint, plan_.max_steps);
  const TrainerState stored = core_.state;
  note_settings();
  if (checkpoint && core_.team().is_first()) checkpoints_.warn_of_other_settings(stored, *checkpoint);
}

void TrainingRun::note_settings() {
  const TrainingArguments& args = core_.args;
  TrainerState& state = core_.state;
  state.max_steps = plan_.max_steps;
  state.num_train_epochs = plan_.epochs;
  state.train_batch_size = args.per_device_train_batch_size;
  state.world_size = plan_.processes;
  state.logging_steps = in_steps(args.logging_steps, plan_.max_steps);
  if (args.eval_steps) state.eval_steps = in_steps(*args.eval_steps, plan_.max_steps);
  state.save_steps = in_steps(args.save_steps, plan_.max_steps);
  state.train_data = description_of(train_data_);
}

bool TrainingRun::is_finished() const {
  const bool at_end = core_.state.global_step >= plan_.max_steps;
  if (!at_end && !out_of_patience(core_.state, core_.args)) return false;
  log_info(
      "already finished: this run {} at step {} of {}, nothing is left to train. To train on, give {}; to start again, "
      "--overwrite_output_dir or another --output_dir",
      at_end ? "ended" : "stopped early", core_.state.global_step, plan_.max_steps,
      at_end ? "more --num_train_epochs or --max_steps" : "a larger --early_stopping_patience");
  return true;
}

Metrics TrainingRun::train() {
  core_.running.restart();
  train_epochs();
  Metrics results;
  if (!core_.was_interrupted) {
    if (core_.args.load_best_model_at_end) checkpoints_.load_best_model();
    nan_guard_.check_trained(core_.model->parameters(), checkpoints_.keeper());
    results = metrics();
    stage_.add_to(results);
  }
  actions_.after_last_step(results);
  return results;
}

void TrainingRun::train_epochs() {
  {
    Progress progress("training", plan_.max_steps, core_.is_quiet());
    actions_.before_first_step(core_.state.global_step % plan_.updates == 0);
    if (core_.args.profile || core_.options.is_watched)
      profiler_.emplace(core_.args.profile ? Profiler::Threads::all : Profiler::Threads::own);
    if (profiler_) core_.steps.profiler = &*profiler_;
    for (std::int64_t epoch = core_.state.global_step / plan_.updates; epoch < plan_.epochs && !actions_.ends_run();
         ++epoch)
      train_epoch(epoch, progress);
  }
  if (profiler_) profiler_->set_recording(false);
  if (core_.args.profile && core_.team().is_first()) write_profile(*profiler_, core_.args.output_dir);
}

void TrainingRun::train_epoch(std::int64_t epoch, Progress& progress) {
  const TrainingArguments& args = core_.args;
  const parallel::Team& team = core_.team();
  TrainerState& state = core_.state;
  const std::int64_t batch = args.per_device_train_batch_size;
  const data::RankBatches batches(epoch_order(args, train_data_, epoch),
                                  {batch, args.dataloader_drop_last, team.size(), team.rank()});
  std::int64_t next =
      args.ignore_data_skip ? 0 : (state.global_step - epoch * plan_.updates) * args.gradient_accumulation_steps;
  using MicroBatches = std::vector<BatchPtr>;  // of one step
  const auto collating = profiler_track("preparing batches");
  const auto next_step = [&]() -> std::optional<MicroBatches> {
    const TrackSpan span(collating.get(), "collating");
    MicroBatches step;
    for (; next < batches.size() && std::ssize(step) < args.gradient_accumulation_steps; ++next)
      step.push_back(collate(train_data_, batches[next],
                             static_cast<std::uint32_t>((std::ssize(step) * team.size() + team.rank()) * batch),
                             epoch));
    return step.empty() ? std::nullopt : std::optional(std::move(step));
  };
  std::int64_t batches_done = next;
  data::Prefetcher<MicroBatches> prefetched(next_step, kStepsAhead);
  const StepOptions options = core_.step_options();
  core_.callbacks.call(&TrainerCallback::on_epoch_begin, core_.progress());
  while (!actions_.ends_run()) {
    const std::int64_t steps_done = state.global_step - first_step_;
    if (profiler_ && !args.profile) profiler_->set_recording(steps_done % kStepsPerSample == kFirstSample);
    if (steps_done % kStepsPerMemory == 0) load_.memory_bytes = static_cast<double>(cpu::resident_bytes());
    const Timer step_timer;
    const std::optional<MicroBatches> micro_batches = [&] {
      const Span waiting("data wait");
      return prefetched.next();
    }();
    if (!micro_batches) break;
    const double waited = step_timer.seconds();
    const double loss_scale = scaler_.scale();
    core_.callbacks.call(&TrainerCallback::on_step_begin, core_.progress());
    const double lr = learning_rate_.after(optimizer_.steps());
    const auto step = static_cast<std::uint64_t>(state.global_step);
    const StepResult result =
        training_step(*core_.model, ddp_, optimizer_, scaler_, *micro_batches, step, lr, options, load_);
    nan_guard_.after_step(state.global_step + 1, result, scaler_.scale(), checkpoints_.keeper(),
                          [&] { return find_fault(*core_.model, team, *micro_batches, step, result, options); });
    state.skipped_steps += result.skipped && !result.overflowed;
    batches_done += std::ssize(*micro_batches);
    state.num_input_tokens_seen += static_cast<std::int64_t>(result.tokens);
    state.total_flos += 6.0 * result.tokens * static_cast<double>(matmul_parameters_);
    core_.speed.add_step(result.tokens, result.flops / team.size(), step_timer.seconds());
    note(result, lr, loss_scale, waited);
    ++state.global_step;
    state.epoch = static_cast<double>(epoch) + static_cast<double>(batches_done) / static_cast<double>(plan_.batches);
    {
      const Span reporting("logging, evaluation, saving", Span::Inner::hidden);
      show(result, lr, progress);
      actions_.after_step(result, lr, batches_done == plan_.batches);
    }
    Profiler::end_step();
  }
}

void TrainingRun::note(const StepResult& result, double lr, double loss_scale, double waited_for_data) {
  StepFacts& steps = core_.steps;
  steps.loss = result.loss;
  steps.grad_norm = result.grad_norm;
  steps.learning_rate = lr;
  steps.loss_scale = loss_scale;
  steps.ranks_seconds = steps.seconds;  // ranks tell of the step before
  steps.seconds = core_.speed.seconds();
  steps.tokens = core_.speed.tokens();
  steps.flops = core_.speed.flops();
  steps.matmul_rate = core_.speed.matmul_rate();
  steps.ranks.resize(result.ranks.size());
  for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
    steps.ranks[rank].busy_seconds += result.ranks[rank].busy_seconds;
    steps.ranks[rank].memory_bytes = result.ranks[rank].memory_bytes;
  }
  load_.busy_seconds = waited_for_data + result.busy_seconds;
}

void TrainingRun::show(const StepResult& result, double lr, Progress& progress) const {
  progress.update(core_.state.global_step,
                  {fmt::format("loss {:.4f}", result.loss), fmt::format("lr {:.3g}", lr),
                   fmt::format("{:.0f} tokens/s", core_.speed.tokens_per_second()),
                   fmt::format("{:.0f}% of peak matmul speed", 100 * core_.speed.matmul_share())});
}

Metrics TrainingRun::metrics() const {
  const TrainerState& state = core_.state;
  Metrics metrics;
  const double seconds = core_.running.seconds();
  const double done = static_cast<double>(state.global_step - first_step_);
  const std::int64_t planned = plan_.max_steps > 0 ? plan_.max_steps : plan_.updates * plan_.epochs;
  const double samples = done * plan_.samples / static_cast<double>(std::max<std::int64_t>(1, planned));
  add_speed_metrics(metrics, "train", seconds, samples, done);
  metrics.set("total_flos", state.total_flos);
  metrics.set("train_loss", state.loss_sum / static_cast<double>(std::max<std::int64_t>(1, state.global_step)));
  metrics.set("epoch", state.epoch);
  if (scaler_.enabled() || core_.args.nan_policy == NanPolicy::skip)
    metrics.set("train_skipped_steps", scaler_.skipped() + state.skipped_steps);
  if (core_.args.include_num_input_tokens_seen) metrics.set("num_input_tokens_seen", state.num_input_tokens_seen);
  if (core_.args.include_tokens_per_second)
    metrics.set("train_tokens_per_second", rounded(core_.speed.tokens() / seconds, 3));
  return metrics;
}

}  // namespace hearth
