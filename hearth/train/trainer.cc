#include "hearth/train/trainer.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/data/prefetch.h"
#include "hearth/data/sampler.h"
#include "hearth/io/folder_checksums.h"
#include "hearth/io/json.h"
#include "hearth/kernels/gemm/peak.h"
#include "hearth/metrics/metrics_json.h"
#include "hearth/ops/context.h"
#include "hearth/train/agreed_values.h"
#include "hearth/train/batch_size.h"
#include "hearth/train/best_metric.h"
#include "hearth/train/changed_settings.h"
#include "hearth/train/checkpoint.h"
#include "hearth/train/fault.h"
#include "hearth/train/profile.h"
#include "hearth/train/results.h"
#include "hearth/train/schedule_settings.h"
#include "hearth/train/training_plan.h"

namespace hearth {
namespace {

constexpr std::size_t kStepsAhead = 2, kBatchesAhead = 2;
constexpr std::int64_t kBatchesPerQuestion = 16;  // between two questions to all processes whether to stop

struct EvaluationStopped {};  // by hooks_.stop_requested

}  // namespace

Trainer::Trainer(nn::Model& model, TrainingArguments args, DatasetPtr train_data, TrainerHooks hooks,
                 parallel::Team team)
    : model_(model),
      args_(std::move(args)),
      train_data_(std::move(train_data)),
      hooks_(std::move(hooks)),
      team_(std::move(team)),
      scaler_(args_.fp16),
      nan_guard_(args_, team_),
      memory_(!args_.skip_memory_metrics) {
  const MemoryStage stage(memory_, "init");
  const Timer preparing;
  args_.validate();
  for (const auto& parameter : model_.parameters().parameters())
    if (!parameter->is_embedding) matmul_parameters_ += parameter->shape.size();
  if (team_.size() > 1 && train_data_ != nullptr)
    team_.check_agreement(agreed_values(args_, model_.parameters(), *train_data_));
  broadcast_weights();
  preparation_seconds_ = preparing.seconds();
}

Metrics Trainer::train(const std::optional<std::filesystem::path>& checkpoint) {
  check((args_.eval_strategy == Strategy::no && !args_.eval_on_start) || hooks_.evaluate,
        "{} needs something to evaluate on",
        args_.eval_on_start ? "--eval_on_start" : fmt::format("--eval_strategy {}", name_of(args_.eval_strategy)));
  check(train_data_ != nullptr, "[Trainer] there is no data to train on");
  const MemoryStage stage(memory_, "train");
  ddp_ = std::make_unique<parallel::DataParallel>(model_.parameters(), optimizer_options(args_), team_,
                                                  data_parallel_options(args_));
  if (args_.auto_find_batch_size) find_batch_size(checkpoint);
  const TrainingPlan plan = make_plan(args_, *train_data_, team_.size());
  begin_schedule(plan.max_steps);
  scaler_ = optim::LossScaler(args_.fp16);
  state_ = {};
  checkpoints_ = CheckpointKeeper(args_.output_dir, args_.save_total_limit);
  nan_guard_ = NanGuard(args_, team_);
  if (checkpoint) resume(*checkpoint, plan.max_steps);
  const TrainerState stored = state_;
  note_settings(plan);
  if (checkpoint && team_.is_first()) warn_of_other_settings(stored, *checkpoint);
  announce(plan, args_, *train_data_, model_.parameters().trainable_count());
  speed_ =
      is_quiet() ? Speed() : Speed([format = args_.train_dtype()] { return kernels::measure_matmul_rate(format); });

  const std::int64_t first_step = state_.global_step;
  running_.restart();
  was_finished_ = checkpoint && is_finished(plan);
  stop_ = was_finished_;
  interrupted_ = stoppable_ = false;
  std::optional<Profiler> profiler;
  {
    Progress progress("training", plan.max_steps, is_quiet());
    if (args_.eval_on_start && !stop_) log_row(evaluation());
    if (state_.evaluation_skipped) {
      const bool ends_epoch = state_.global_step % plan.updates == 0;
      save_if_due(ends_epoch, evaluate_if_due(ends_epoch));
    }
    if (args_.profile) profiler.emplace();
    for (std::int64_t epoch = state_.global_step / plan.updates; epoch < plan.epochs && !stop_; ++epoch)
      train_epoch(plan, epoch, progress);
  }
  stoppable_ = false;
  if (profiler && team_.is_first()) write_profile(*profiler, args_.output_dir);
  if (interrupted_) return {};
  if (args_.load_best_model_at_end) load_best_model();
  nan_guard_.check_trained(model_.parameters(), checkpoints_);

  Metrics metrics = train_metrics(plan, first_step);
  stage.add_to(metrics);
  if (was_finished_) return metrics;
  Metrics row = metrics;
  row.set("step", state_.global_step);
  state_.log_history.push_back(to_json(row));
  return metrics;
}

// A resumed run starts with the batch size that was found before, as the Trainer does.
void Trainer::find_batch_size(const std::optional<std::filesystem::path>& checkpoint) {
  std::int64_t& batch = args_.per_device_train_batch_size;
  const std::int64_t found_before = checkpoint ? TrainerState::load(*checkpoint).train_batch_size : 0;
  if (found_before > 0) batch = std::min(batch, found_before);
  batch = hearth::find_batch_size(model_, *train_data_, batch, step_options(), team_);
}

bool Trainer::is_finished(const TrainingPlan& plan) const {
  const bool at_end = state_.global_step >= plan.max_steps;
  if (!at_end && !out_of_patience(state_, args_)) return false;
  log_info(
      "already finished: this run {} at step {} of {}, nothing is left to train. To train on, give {}; to start again, "
      "--overwrite_output_dir or another --output_dir",
      at_end ? "ended" : "stopped early", state_.global_step, plan.max_steps,
      at_end ? "more --num_train_epochs or --max_steps" : "a larger --early_stopping_patience");
  return true;
}

void Trainer::begin_schedule(std::int64_t max_steps) {
  plateau_.reset();
  if (!reduces_on_plateau(args_)) {
    schedule_ = schedule_options(args_, max_steps);
    return;
  }
  plateau_ = make_plateau(args_);
  const std::string better = args_.greater_is_better.value_or(false) ? "max" : "min";
  if (plateau_->options().mode != better && team_.is_first())
    log_warning(
        "{} takes {} {} for better, but for the best model it is the other way round: set mode to {} in "
        "--lr_scheduler_kwargs, or --greater_is_better",
        optim::kPlateauName, better == "max" ? "a smaller" : "a greater",
        args_.metric_for_best_model.value_or("metric"), better);
}

double Trainer::learning_rate() const {
  if (plateau_) return plateau_->lr();
  return args_.learning_rate * optim::schedule_factor(schedule_, ddp_->steps(), args_.learning_rate);
}

void Trainer::resume(const std::filesystem::path& checkpoint, std::int64_t max_steps) {
  load_progress({model_, *ddp_, scaler_, state_, plateau_ ? &*plateau_ : nullptr}, checkpoint);
  checkpoints_.resume(state_, checkpoint);
  log_info("resuming from {}: step {} of {}", checkpoint.string(), state_.global_step, max_steps);
}

void Trainer::note_settings(const TrainingPlan& plan) {
  state_.max_steps = plan.max_steps;
  state_.num_train_epochs = plan.epochs;
  state_.train_batch_size = args_.per_device_train_batch_size;
  state_.world_size = plan.processes;
  state_.logging_steps = in_steps(args_.logging_steps, plan.max_steps);
  if (args_.eval_steps) state_.eval_steps = in_steps(*args_.eval_steps, plan.max_steps);
  state_.save_steps = in_steps(args_.save_steps, plan.max_steps);
  state_.train_data = description_of(*train_data_);
}

void Trainer::warn_of_other_settings(const TrainerState& stored, const std::filesystem::path& checkpoint) const {
  std::vector<std::string> changes = changed_settings(stored, state_);
  if (const std::filesystem::path file = checkpoint / "training_args.json"; std::filesystem::exists(file))
    for (std::string& change : changed_flags(io::read_json(file), hooks_.flags)) changes.push_back(std::move(change));
  if (!changes.empty())
    log_warning("settings differ from those of the checkpoint that this run resumes from: {}",
                fmt::join(changes, ", "));
}

Metrics Trainer::train_metrics(const TrainingPlan& plan, std::int64_t first_step) const {
  Metrics metrics;
  const double seconds = running_.seconds();
  const double done = static_cast<double>(state_.global_step - first_step);
  const std::int64_t planned = plan.max_steps > 0 ? plan.max_steps : plan.updates * plan.epochs;
  const double samples = done * plan.samples / static_cast<double>(std::max<std::int64_t>(1, planned));
  add_speed_metrics(metrics, "train", seconds, samples, done);
  metrics.set("total_flos", state_.total_flos);
  metrics.set("train_loss", state_.loss_sum / static_cast<double>(std::max<std::int64_t>(1, state_.global_step)));
  metrics.set("epoch", state_.epoch);
  if (scaler_.enabled() || args_.nan_policy == NanPolicy::skip)
    metrics.set("train_skipped_steps", scaler_.skipped() + state_.skipped_steps);
  if (args_.include_num_input_tokens_seen) metrics.set("num_input_tokens_seen", state_.num_input_tokens_seen);
  if (args_.include_tokens_per_second) metrics.set("train_tokens_per_second", rounded(speed_.tokens() / seconds, 3));
  return metrics;
}

void Trainer::train_epoch(const TrainingPlan& plan, std::int64_t epoch, Progress& progress) {
  const std::int64_t batch = args_.per_device_train_batch_size;
  const data::RankBatches batches(epoch_order(args_, *train_data_, epoch),
                                  {batch, args_.dataloader_drop_last, team_.size(), team_.rank()});
  std::int64_t next =
      args_.ignore_data_skip ? 0 : (state_.global_step - epoch * plan.updates) * args_.gradient_accumulation_steps;
  using MicroBatches = std::vector<BatchPtr>;  // of one step
  const auto next_step = [&]() -> std::optional<MicroBatches> {
    MicroBatches step;
    for (; next < batches.size() && std::ssize(step) < args_.gradient_accumulation_steps; ++next)
      step.push_back(train_data_->collate(
          batches[next], static_cast<std::uint32_t>((std::ssize(step) * team_.size() + team_.rank()) * batch)));
    return step.empty() ? std::nullopt : std::optional(std::move(step));
  };
  std::int64_t batches_done = next;
  data::Prefetcher<MicroBatches> prefetched(next_step, kStepsAhead);
  const StepOptions options = step_options();
  while (!stop_) {
    const Timer step_timer;
    const std::optional<MicroBatches> micro_batches = [&] {
      const Span waiting("data wait");
      return prefetched.next();
    }();
    if (!micro_batches) break;
    const double lr = learning_rate();
    const auto step = static_cast<std::uint64_t>(state_.global_step);
    const StepResult result = training_step(model_, *ddp_, scaler_, *micro_batches, step, lr, options);
    nan_guard_.after_step(state_.global_step + 1, result, scaler_.scale(), checkpoints_,
                          [&] { return find_fault(model_, team_, *micro_batches, step, result, options); });
    state_.skipped_steps += result.skipped && !result.overflowed;
    batches_done += std::ssize(*micro_batches);
    state_.num_input_tokens_seen += static_cast<std::int64_t>(result.tokens);
    state_.total_flos += 6.0 * result.tokens * static_cast<double>(matmul_parameters_);
    speed_.add_step(result.tokens, result.flops / team_.size(), step_timer.seconds());
    ++state_.global_step;
    state_.epoch = static_cast<double>(epoch) + static_cast<double>(batches_done) / static_cast<double>(plan.batches);
    {
      const Span reporting("logging, evaluation, saving", Span::Inner::hidden);
      after_step(result, lr, batches_done == plan.batches, progress);
    }
    Profiler::end_step();
  }
}

void Trainer::after_step(const StepResult& result, double lr, bool ends_epoch, Progress& progress) {
  const bool counts = std::isfinite(result.loss) || !args_.logging_nan_inf_filter;
  // A NaN or infinite loss counts as sum / (steps + 1) of the losses since the last log, as in the Trainer.
  const double loss = counts ? result.loss : state_.loss_since_log / static_cast<double>(state_.steps_since_log + 1);
  state_.loss_sum += loss;
  state_.loss_since_log += loss;
  ++state_.steps_since_log;
  stop_ = stop_ || state_.global_step >= state_.max_steps;

  progress.update(state_.global_step, {fmt::format("loss {:.4f}", result.loss), fmt::format("lr {:.3g}", lr),
                                       fmt::format("{:.0f} tokens/s", speed_.tokens_per_second()),
                                       fmt::format("{:.0f}% of peak matmul speed", 100 * speed_.matmul_share())});
  const bool first = args_.logging_first_step && state_.global_step == 1;
  const auto log_if_due = [&] {
    if (state_.steps_since_log > 0 && (first || is_due(args_.logging_strategy, state_.logging_steps, ends_epoch)))
      log_loss(result, lr);
  };
  stoppable_ = true;
  interrupted_ = result.stop;
  log_if_due();
  const bool best = evaluate_if_due(ends_epoch);
  log_if_due();  // an evaluation may have stopped the run early
  save_if_due(ends_epoch, best);
  stop_ = stop_ || interrupted_;
}

// Stopping within an epoch counts as the end of that epoch, unless the run is to be resumed.
bool Trainer::is_due(Strategy strategy, std::int64_t every, bool ends_epoch) const {
  if (strategy == Strategy::steps) return every > 0 && state_.global_step % every == 0;
  return strategy == Strategy::epoch && (ends_epoch || stop_);
}

bool Trainer::stop_requested() const {
  return stoppable_ && hooks_.stop_requested && team_.any(hooks_.stop_requested());
}

void Trainer::log_loss(const StepResult& result, double lr) {
  Metrics row;
  row.set("loss", rounded(state_.loss_since_log / static_cast<double>(state_.steps_since_log), 4));
  row.set("grad_norm", result.grad_norm);
  row.set("learning_rate", lr);
  state_.loss_since_log = 0;
  state_.steps_since_log = 0;
  log_row(std::move(row));
}

void Trainer::log_row(Metrics row) {
  row.set("epoch", state_.epoch);
  if (args_.include_num_input_tokens_seen) {
    row.set("num_input_tokens_seen", state_.num_input_tokens_seen);
    if (row.contains("loss")) {
      const double seconds = running_.seconds();
      row.set("train_runtime", rounded(seconds, 4));
      row.set("train_tokens_per_second", rounded(static_cast<double>(state_.num_input_tokens_seen) / seconds, 3));
    }
  }
  Metrics shown = row;
  shown.set("epoch", rounded(state_.epoch, 2));
  print_line(io::dump_json(to_json(shown), io::kOneLine));
  row.set("step", state_.global_step);
  state_.log_history.push_back(to_json(row));
}

// All processes decide by the metrics of the first one, so that they decide alike.
Metrics Trainer::evaluation() {
  const Metrics metrics = hooks_.evaluate(*this);
  if (team_.size() == 1) return metrics;
  const std::string name = "metrics of the first process";
  return metrics_from_json(io::parse_json(team_.broadcast(io::dump_json(to_json(metrics), io::kOneLine)), name), name);
}

bool Trainer::evaluate() {
  Metrics metrics = evaluation();
  if (plateau_) plateau_->take(metric_for_best_model(args_, metrics));
  const bool best = take_best_metric(state_, args_, metrics);
  log_row(std::move(metrics));
  if (out_of_patience(state_, args_)) {
    print_line(fmt::format("stopping early: {} evaluations without a better {}", state_.evaluations_without_gain,
                           args_.metric_for_best_model.value_or("metric")));
    stop_ = true;
  }
  return best;
}

// A run that is asked to stop leaves the evaluation to the run that resumes.
bool Trainer::evaluate_if_due(bool ends_epoch) {
  state_.evaluation_skipped = false;
  const double passed = args_.eval_strategy == Strategy::epoch ? state_.epoch : static_cast<double>(state_.global_step);
  if (!is_due(args_.eval_strategy, state_.eval_steps, ends_epoch) || passed < args_.eval_delay) return false;
  try {
    if (!interrupted_) return evaluate();
  } catch (const EvaluationStopped&) {
    interrupted_ = true;
  }
  state_.evaluation_skipped = true;
  return false;
}

// A run that is asked to stop saves a checkpoint to resume from, whatever --save_strategy says.
void Trainer::save_if_due(bool ends_epoch, bool best) {
  const bool last = state_.global_step >= state_.max_steps;
  const bool due = is_due(args_.save_strategy, state_.save_steps, ends_epoch) ||
                   (args_.save_strategy == Strategy::steps && last) || (args_.save_strategy == Strategy::best && best);
  bool saved = false;
  if (due && !interrupted_) {
    save_checkpoint(args_.save_only_model);
    saved = !args_.save_only_model;
    interrupted_ = stop_requested();  // while this step was evaluated or saved
  }
  if (interrupted_ && !saved) save_checkpoint(false);
}

void Trainer::save_checkpoint(bool only_model) {
  if (!nan_guard_.may_save(state_.global_step, model_.parameters(), checkpoints_)) return;
  const optim::Optimizer::State optimizer =
      only_model ? optim::Optimizer::State{} : ddp_->state();  // all processes take part
  if (!saves()) return;
  checkpoints_.save(state_, [&](const std::filesystem::path& folder) {
    save_model(folder);
    if (only_model) {
      state_.save(folder);
    } else {
      save_progress({model_, *ddp_, scaler_, state_, plateau_ ? &*plateau_ : nullptr}, optimizer, folder);
    }
  });
}

void Trainer::load_best_model() {
  if (team_.is_first()) load_best_weights();
  broadcast_weights();
}

void Trainer::load_best_weights() {
  if (!std::filesystem::exists(state_.best_model_checkpoint)) {
    log_warning("the best checkpoint{} does not exist: the model keeps the weights of the last step",
                state_.best_model_checkpoint.empty() ? "" : ", " + state_.best_model_checkpoint + ",");
    return;
  }
  log_info("loading the best model, {}", state_.best_model_checkpoint);
  try {
    io::verify_checksums(state_.best_model_checkpoint);
    model_.load_weights(state_.best_model_checkpoint);
  } catch (const Error& error) {
    log_warning("the best checkpoint cannot be loaded, and the model keeps the weights of the last step: {}",
                error.what());
  }
}

void Trainer::broadcast_weights() {
  if (team_.size() == 1) return;
  team_.broadcast(model_.parameters().master());
  model_.parameters().mark_changed();
}

ops::LossOptions Trainer::loss_options() const {
  ops::LossOptions options = hooks_.loss;
  options.label_smoothing = static_cast<float>(args_.label_smoothing_factor);
  return options;
}

StepOptions Trainer::step_options() const {
  return {.compute = args_.train_dtype(),
          .max_grad_norm = args_.max_grad_norm,
          .seed = static_cast<std::uint64_t>(args_.seed),
          .gradient_checkpointing = args_.gradient_checkpointing,
          .loss = loss_options(),
          .stop_requested = hooks_.stop_requested,
          .nan_policy = args_.nan_policy,
          .checks_ops = args_.uses(DebugAid::underflow_overflow)};
}

void Trainer::print_line(const std::string& line) const {
  if (team_.is_first()) Progress::print_line(STDOUT_FILENO, line);
}

void Trainer::save_model(const std::filesystem::path& folder) const {
  model_.save_pretrained(folder);
  if (hooks_.save_beside) hooks_.save_beside(folder);
}

void Trainer::predict(const Dataset& dataset, const Predicted& predicted) {
  const std::int64_t size = args_.per_device_eval_batch_size;
  std::int64_t next = team_.rank() * size;
  using Work = std::pair<std::vector<std::int64_t>, BatchPtr>;
  data::Prefetcher<Work> works(
      [&]() -> std::optional<Work> {
        if (next >= dataset.size()) return std::nullopt;
        std::vector<std::int64_t> items(static_cast<std::size_t>(std::min(size, dataset.size() - next)));
        std::iota(items.begin(), items.end(), next);
        next += team_.size() * size;
        BatchPtr batch = dataset.collate(items, 0);
        return Work(std::move(items), std::move(batch));
      },
      kBatchesAhead);
  Progress progress("evaluating", dataset.size(), is_quiet());
  // The ranks evaluate neighbouring batches at the same time. In the last round some may have none.
  for (std::int64_t round = 0; round * team_.size() * size < dataset.size(); ++round) {
    if (round % (team_.size() == 1 ? 1 : kBatchesPerQuestion) == 0 && stop_requested()) throw EvaluationStopped();
    const std::optional<Work> work = works.next();
    if (!work) break;
    ops::Context ctx;
    ctx.compute = args_.eval_dtype();
    ctx.loss = loss_options();
    predicted(work->first, *work->second, model_.forward(ctx, work->second));
    progress.update(std::min(dataset.size(), work->first.front() + (team_.size() - team_.rank()) * size));
  }
}

}  // namespace hearth
