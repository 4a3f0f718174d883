#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hearth/autograd/parameter.h"
#include "hearth/parallel/team.h"
#include "hearth/train/checkpoint_keeper.h"
#include "hearth/train/training_arguments.h"
#include "hearth/train/training_step.h"

namespace hearth {

// Applies --nan_policy. Loss, gradient norm and weights are the same in all processes of a team, so all decide alike;
// where training must stop, all throw the same NotFiniteError.
class NanGuard {
 public:
  static constexpr std::int64_t kMostInARow = 50;  // skipped steps, unless the policy is ignore

  NanGuard(const TrainingArguments& args, parallel::Team team);

  // Takes the result of each step and warns of skipped ones. `locate` is find_fault for the step. `loss_scale` is that
  // of the next step.
  void after_step(std::int64_t step, const StepResult& result, float loss_scale, const CheckpointKeeper& checkpoints,
                  const std::function<std::string()>& locate);
  // False, after a warning: the weights are not finite, so they must not become a checkpoint.
  bool may_save(std::int64_t step, const ParameterStore& weights, const CheckpointKeeper& checkpoints) const;
  // At the end of training, before the model is saved.
  void check_trained(const ParameterStore& weights, const CheckpointKeeper& checkpoints) const;

 private:
  std::string reason_to_stop(std::int64_t step, const StepResult& result, float loss_scale) const;
  [[noreturn]] void stop(const std::string& reason, const CheckpointKeeper& checkpoints) const;
  void warn(const std::string& message) const;

  NanPolicy policy_;
  bool fp16_;
  double learning_rate_;
  parallel::Team team_;
  std::int64_t in_a_row_ = 0;  // steps without an update
};

}  // namespace hearth
