#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/metrics/metrics.h"

namespace hearth {

class Profiler;

// The work of one rank.
struct RankLoad {
  double busy_seconds = 0;  // in steps, without waiting for gradients of other ranks
  double memory_bytes = 0;  // resident, at a recent step
};

// The steps of a run since it began or was resumed. Evaluations and checkpoints do not count as time.
struct StepFacts {
  double loss = 0, grad_norm = 0, learning_rate = 0;  // of the last step, over all ranks
  double loss_scale = 1;                              // by which the gradients of the last step are multiplied: fp16
  double seconds = 0, tokens = 0, flops = 0;          // of all steps: tokens of all ranks, FLOPs of this one
  double matmul_rate = 0;                             // FLOP/s that the machine's matmul reaches; 0: not measured
  std::vector<RankLoad> ranks;                        // of all steps but the last, which took ranks_seconds
  double ranks_seconds = 0;
  const Profiler* profiler = nullptr;  // of the steps that were profiled; null: none
};

// How far a run is.
struct TrainingProgress {
  std::int64_t global_step = 0, max_steps = 0;  // steps done, and those of the whole run
  std::int64_t num_train_epochs = 0;
  double epoch = 0;                   // 1.5 in the middle of the second epoch
  std::optional<double> best_metric;  // of metric_for_best_model, so far
  bool is_world_process_zero = true;  // this is rank 0, which prints and writes files
  const StepFacts* steps = nullptr;   // null before train()
};

// What callbacks ask for, beyond what the settings ask for. A callback sets members to true; a request that was met is
// withdrawn. In a team the request of any rank counts for all ranks, so the ranks never diverge.
struct TrainerControl {
  bool should_training_stop = false;  // after this step, which then counts as the end of its epoch
  bool should_evaluate = false, should_save = false, should_log = false;
};

// Code of a program's own at the events of a training run, in the order of the declarations. Every rank of a team calls
// its callbacks at the same events with the same values, so either all ranks have callbacks or none. Requests made in
// on_step_end and on_epoch_end count in the same step, those made elsewhere in the next one; should_training_stop
// counts at once. An exception ends the run.
class HEARTH_API TrainerCallback {
 public:
  virtual ~TrainerCallback() = default;

  // False: the callback only watches and never sets a member of TrainerControl. Ranks that have no other callbacks
  // exchange nothing, and any of them may have some.
  virtual bool makes_requests() const { return true; }

  virtual void on_train_begin(const TrainingProgress&, TrainerControl&) {}
  virtual void on_epoch_begin(const TrainingProgress&, TrainerControl&) {}
  virtual void on_step_begin(const TrainingProgress&, TrainerControl&) {}
  virtual void on_step_end(const TrainingProgress&, TrainerControl&) {}
  // After on_step_end of the last step of an epoch, or of the run.
  virtual void on_epoch_end(const TrainingProgress&, TrainerControl&) {}
  virtual void on_log(const TrainingProgress&, TrainerControl&, const Metrics& /*row*/) {}
  virtual void on_evaluate(const TrainingProgress&, TrainerControl&, const Metrics& /*metrics*/) {}
  // A checkpoint is complete. The folder is on the hosts whose ranks save.
  virtual void on_save(const TrainingProgress&, TrainerControl&, const std::filesystem::path& /*checkpoint*/) {}
  virtual void on_train_end(const TrainingProgress&, TrainerControl&) {}
};

}  // namespace hearth
