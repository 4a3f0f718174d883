#include "hearth/train/evaluation.h"

#include <array>
#include <utility>

#include "hearth/base/rounding.h"
#include "hearth/train/results.h"

namespace hearth {
namespace {

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
  if (!args.do_train) metrics.set(prefix + "_model_preparation_time", rounded(trainer.preparation_seconds(), 4));
  const std::int64_t round = args.per_device_eval_batch_size * trainer.team().size();
  const std::int64_t batches = divide_up(dataset.size(), round);
  add_speed_metrics(metrics, prefix, seconds, static_cast<double>(dataset.size()), static_cast<double>(batches));
  return metrics;
}

}  // namespace

Metrics Evaluation::with_scores(const Metrics& scores) const {
  Metrics all = loss;
  all.update(scores.with_prefix(prefix + "_"));
  all.update(speed);
  return all;
}

Evaluation evaluate(Trainer& trainer, const Dataset& dataset, std::string prefix, const KeepValues& keep) {
  const MemoryStage stage(trainer.memory(), prefix);
  const Timer timer;
  Evaluation result{std::move(prefix), ItemValues(dataset.size()), {}, {}};
  MeanLoss loss;
  trainer.predict(dataset, [&](std::span<const std::int64_t> items, const Batch& batch, const nn::ModelOutput& output) {
    for (std::size_t s = 0; s < items.size(); ++s)
      result.values.set(items[s], keep(static_cast<std::int64_t>(s), batch, output));
    loss.add(output, items.size());
  });
  result.values.gather(trainer.team());
  result.loss = loss.metrics(trainer.team(), result.prefix);
  result.speed = speed_metrics(trainer, dataset, result.prefix, timer.seconds());
  stage.add_to(result.speed);
  return result;
}

}  // namespace hearth
