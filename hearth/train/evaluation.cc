#include "hearth/train/evaluation.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/base/progress.h"
#include "hearth/base/rounding.h"
#include "hearth/data/collate.h"
#include "hearth/data/prefetch.h"
#include "hearth/train/results.h"
#include "hearth/train/trainer_core.h"

namespace hearth {
namespace {

constexpr std::size_t kBatchesAhead = 2;
constexpr std::int64_t kBatchesPerQuestion = 16;  // between two questions to all processes whether to stop

// The mean loss over items: a batch's mean counts once per item, as in the Trainer.
class MeanLoss {
 public:
  void add(const nn::ModelOutput& output, std::size_t items) {
    const auto count = static_cast<double>(items);
    sums_[0] += output.loss.defined() ? double{output.loss.value().item()} * count : 0;
    sums_[1] += output.loss.defined() ? count : 0;
    sums_[2] += count;
  }
  Metrics metrics(const parallel::Team& team, const std::string& prefix) {
    if (team.size() > 1) team.group().all_reduce(sums_.data(), sums_.size(), DType::f64)->wait();
    if (sums_[1] == 0 || sums_[1] != sums_[2]) return {};
    return {{prefix + "_loss", sums_[0] / sums_[1]}};
  }

 private:
  std::array<double, 3> sums_{};  // of losses, of items with a loss, of items
};

Metrics speed_metrics(const Trainer& trainer, const Dataset& dataset, const std::string& prefix, double seconds) {
  const TrainingArguments& args = trainer.arguments();
  Metrics metrics;
  const bool trains = args.do_train || trainer.state().global_step > 0;
  if (!trains) metrics.set(prefix + "_model_preparation_time", rounded(trainer.preparation_seconds(), 4));
  const std::int64_t round = args.per_device_eval_batch_size * trainer.team().size();
  const std::int64_t batches = divide_up(dataset.size(), round);
  add_speed_metrics(metrics, prefix, seconds, static_cast<double>(dataset.size()), static_cast<double>(batches));
  return metrics;
}

// A pass over the dataset: `take` gets the batches of this rank, `gather` then collects what it kept.
Evaluation run_pass(Trainer& trainer, const Dataset& dataset, std::string prefix, const Trainer::Predicted& take,
                    const std::function<void()>& gather) {
  const MemoryStage stage(trainer.memory(), prefix);
  const Timer timer;
  Evaluation result{std::move(prefix), ItemValues(0), {}, {}};
  MeanLoss loss;
  trainer.predict_batches(dataset, [&](auto items, const Batch& batch, const nn::ModelOutput& output) {
    take(items, batch, output);
    loss.add(output, items.size());
  });
  gather();
  result.loss = loss.metrics(trainer.team(), result.prefix);
  result.speed = speed_metrics(trainer, dataset, result.prefix, timer.seconds());
  stage.add_to(result.speed);
  return result;
}

}  // namespace

Metrics Evaluation::with_scores(const Metrics& scores) const {
  Metrics all = loss;
  all.update(scores.with_prefix(prefix + "_"));
  all.update(speed);
  return all;
}

Evaluation evaluate(Trainer& trainer, const Dataset& dataset, std::string prefix, const KeepValues& keep) {
  ItemValues values(dataset.size());
  Evaluation result = run_pass(
      trainer, dataset, std::move(prefix),
      [&](std::span<const std::int64_t> items, const Batch& batch, const nn::ModelOutput& output) {
        for (std::size_t s = 0; s < items.size(); ++s)
          values.set(items[s], keep(static_cast<std::int64_t>(s), batch, output));
      },
      [&] { values.gather(trainer.team()); });
  result.values = std::move(values);
  return result;
}

PredictionOutput Trainer::predict(const Dataset& dataset, const std::string& prefix) {
  check(dataset.size() > 0, "[Trainer] there is nothing to evaluate: the dataset is empty");
  PredictionOutput output{EvalPrediction(dataset.size()), {}};
  EvalPrediction& values = output.values;
  const Evaluation pass = run_pass(
      *this, dataset, prefix, [&](auto items, const Batch& batch, const auto& of) { values.add(items, batch, of); },
      [&] { values.gather(team()); });
  const bool scores = core_->options.compute_metrics && team().is_first() && values.has_labels();
  output.metrics = core_->of_first_rank(pass.with_scores(scores ? core_->options.compute_metrics(values) : Metrics()));
  return output;
}

void Trainer::predict_batches(const Dataset& dataset, const Predicted& predicted) {
  const std::int64_t size = arguments().per_device_eval_batch_size;
  const int ranks = team().size();
  std::int64_t next = team().rank() * size;
  using Work = std::pair<std::vector<std::int64_t>, BatchPtr>;
  data::Prefetcher<Work> works(
      [&]() -> std::optional<Work> {
        if (next >= dataset.size()) return std::nullopt;
        std::vector<std::int64_t> items(static_cast<std::size_t>(std::min(size, dataset.size() - next)));
        std::iota(items.begin(), items.end(), next);
        next += ranks * size;
        BatchPtr batch = collate(dataset, items, 0);
        return Work(std::move(items), std::move(batch));
      },
      kBatchesAhead);
  Progress progress("evaluating", dataset.size(), core_->is_quiet());
  // The ranks evaluate neighbouring batches at the same time. In the last round some may have none.
  for (std::int64_t round = 0; round * ranks * size < dataset.size(); ++round) {
    const bool asks = core_->evaluation_may_stop && round % (ranks == 1 ? 1 : kBatchesPerQuestion) == 0;
    if (asks && core_->stop_requested()) throw EvaluationStopped();
    const std::optional<Work> work = works.next();
    if (!work) break;
    ops::Context ctx;
    ctx.compute = arguments().eval_dtype();
    ctx.loss = core_->loss_options();
    predicted(work->first, *work->second, model().forward(ctx, work->second));
    progress.update(std::min(dataset.size(), work->first.front() + (ranks - team().rank()) * size));
  }
}

}  // namespace hearth
