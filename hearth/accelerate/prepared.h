#pragma once

#include <memory>

#include "hearth/base/api.h"
#include "hearth/nn/model.h"
#include "hearth/optim/lr_scheduler.h"
#include "hearth/optim/optimizer.h"

namespace hearth {

struct AcceleratorState;
struct ModelState;

// A model that Accelerator::prepare returned. Calling it is one forward pass, in training mode at first.
class HEARTH_API PreparedModel {
 public:
  explicit PreparedModel(std::shared_ptr<ModelState> state) : state_(std::move(state)) {}

  void train();  // dropout is on, and passes are recorded for backward()
  void eval();   // neither
  nn::ModelOutput operator()(const BatchPtr& batch);
  // Of the last pass, for ops that follow the model, such as a loss of one's own. Valid until the next pass.
  ops::Context& context() const;
  nn::Model& unwrap() const;

 private:
  std::shared_ptr<ModelState> state_;
};

// An optimizer that Accelerator::prepare returned. Under fp16 it unscales the gradients and skips an update whose
// gradients overflowed.
class HEARTH_API PreparedOptimizer {
 public:
  PreparedOptimizer(std::shared_ptr<optim::Optimizer> optimizer, std::shared_ptr<AcceleratorState> state)
      : optimizer_(std::move(optimizer)), state_(std::move(state)) {}

  void step();
  void zero_grad();
  // torch's clip_grad_norm_ for the next step(). Returns the norm before clipping.
  double clip_grad_norm(double max_norm);
  bool step_was_skipped() const;  // the last step(), because of an overflow
  double lr() const { return optimizer_->lr(); }
  optim::Optimizer& unwrap() const { return *optimizer_; }

 private:
  std::shared_ptr<optim::Optimizer> optimizer_;
  std::shared_ptr<AcceleratorState> state_;
  double clip_ = 1;
};

// A schedule that Accelerator::prepare returned.
class HEARTH_API PreparedScheduler {
 public:
  PreparedScheduler(const optim::LrScheduler& schedule, std::shared_ptr<AcceleratorState> state)
      : schedule_(schedule), state_(std::move(state)) {}

  void step();
  double lr() const { return schedule_.lr(); }

 private:
  optim::LrScheduler schedule_;
  std::shared_ptr<AcceleratorState> state_;
};

}  // namespace hearth
