#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "hearth/base/profiler.h"
#include "hearth/base/progress.h"
#include "hearth/optim/loss_scaler.h"
#include "hearth/parallel/sharded_optimizer.h"
#include "hearth/train/learning_rate.h"
#include "hearth/train/nan_guard.h"
#include "hearth/train/run_checkpoints.h"
#include "hearth/train/step_actions.h"
#include "hearth/train/trainer_core.h"
#include "hearth/train/training_plan.h"

namespace hearth {

// One call of Trainer::train: the steps, and what happens between them.
class TrainingRun {
 public:
  // Prepares the run; a checkpoint is loaded.
  TrainingRun(Trainer& trainer, TrainerCore& core, const std::optional<std::filesystem::path>& checkpoint);

  ~TrainingRun() { core_.steps.profiler = nullptr; }
  TrainingRun(const TrainingRun&) = delete;
  TrainingRun& operator=(const TrainingRun&) = delete;

  Metrics train();

 private:
  TrainingPlan find_plan(const std::optional<std::filesystem::path>& checkpoint);
  void resume(const std::optional<std::filesystem::path>& checkpoint);
  void note_settings();
  bool is_finished() const;

  void train_epochs();
  void train_epoch(std::int64_t epoch, Progress& progress);
  void note(const StepResult& result, double lr, double loss_scale, double waited_for_data);
  void show(const StepResult& result, double lr, Progress& progress) const;
  Metrics metrics() const;

  TrainerCore& core_;
  const Dataset& train_data_;
  const MemoryStage stage_;
  parallel::DistributedDataParallel ddp_;
  parallel::ShardedOptimizer optimizer_;
  optim::LossScaler scaler_;
  const TrainingPlan plan_;  // after the batch size was found, with optimizer_ in memory
  LearningRate learning_rate_;
  NanGuard nan_guard_;
  RunCheckpoints checkpoints_;
  StepActions actions_;
  std::int64_t matmul_parameters_ = 0;  // all but embeddings, for total_flos
  std::int64_t first_step_ = 0;
  std::optional<Profiler> profiler_;
  RankLoad load_;  // of this rank in the last step
};

}  // namespace hearth
