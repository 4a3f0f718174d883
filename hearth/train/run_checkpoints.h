#pragma once

#include <filesystem>

#include "hearth/train/checkpoint.h"
#include "hearth/train/learning_rate.h"
#include "hearth/train/trainer_core.h"

namespace hearth {

// The checkpoints of a run: resumes from one, writes others, and loads the best one at the end. All ranks call the same
// functions in the same order.
class RunCheckpoints {
 public:
  // What `progress` refers to, the core and the learning rate outlive it.
  RunCheckpoints(TrainerCore& core, const SavedProgress& progress, const LearningRate& learning_rate);

  const CheckpointKeeper& keeper() const { return core_.keeper; }

  void resume(const std::filesystem::path& checkpoint, std::int64_t max_steps);
  // Names what a run that resumes does otherwise than the run of the checkpoint, whose state is `stored`.
  void warn_of_other_settings(const TrainerState& stored, const std::filesystem::path& checkpoint) const;
  void save(bool only_model);
  void load_best_model() const;

 private:
  void load_best_weights() const;
  std::optional<TorchFormat> torch_format() const;  // by --save_format

  TrainerCore& core_;
  SavedProgress progress_;
  const LearningRate& learning_rate_;
};

}  // namespace hearth
