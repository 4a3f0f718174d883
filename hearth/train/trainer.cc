#include "hearth/train/trainer.h"

#include <utility>

#include "hearth/train/one_training.h"
#include "hearth/train/trainer_core.h"
#include "hearth/train/training_run.h"

namespace hearth {

Trainer::Trainer(std::shared_ptr<nn::Model> model, TrainingArguments args, TrainerOptions options)
    : core_(std::make_unique<TrainerCore>(std::move(model), std::move(args), std::move(options))) {}

Trainer::~Trainer() = default;

Metrics Trainer::train(const std::optional<std::filesystem::path>& checkpoint) {
  const OneTraining one(team());
  return TrainingRun(*this, *core_, checkpoint).train();
}

Metrics Trainer::evaluate(const DatasetPtr& dataset) {
  const Metrics metrics = core_->evaluation(*this, dataset.get());
  core_->log_row(metrics);
  core_->callbacks.call(&TrainerCallback::on_evaluate, progress(), metrics);
  return metrics;
}

void Trainer::save_model(const std::filesystem::path& folder) const {
  if (core_->saves()) core_->save_model(folder);
}
void Trainer::add_callback(std::shared_ptr<TrainerCallback> callback) { core_->callbacks.add(std::move(callback)); }

bool Trainer::was_finished() const { return core_->was_finished; }
bool Trainer::was_interrupted() const { return core_->was_interrupted; }
bool Trainer::saves() const { return core_->saves(); }
TrainingProgress Trainer::progress() const { return core_->progress(); }
const TrainingArguments& Trainer::arguments() const { return core_->args; }
const parallel::Team& Trainer::team() const { return core_->team(); }
nn::Model& Trainer::model() const { return *core_->model; }

const TrainerState& Trainer::state() const { return core_->state; }
std::filesystem::path Trainer::last_checkpoint() const { return core_->keeper.last(); }
MemoryMetrics& Trainer::memory() { return core_->memory; }
double Trainer::preparation_seconds() const { return core_->preparation_seconds; }
double Trainer::tokens_per_second() const { return core_->speed.tokens_per_second(); }
std::int64_t Trainer::train_size() const {
  return core_->options.train_dataset == nullptr ? 0 : core_->options.train_dataset->size();
}

}  // namespace hearth
