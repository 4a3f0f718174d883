#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/autograd/parameter.h"
#include "hearth/base/api.h"
#include "hearth/optim/optimizer_args.h"

namespace hearth::optim {

// The Trainer's settings of an optimizer; optimizers.h says which ones an optimizer reads.
struct OptimizerOptions {
  std::string name = "adamw_torch";               // --optim, the Trainer's default
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;  // --adam_beta1, --adam_beta2, --adam_epsilon
  double weight_decay = 0;                        // for parameters with decays()
  bool decays_all = false;                        // weight decay for all parameters, as torch.optim has it
  double lr = 1e-3;                               // of step() without a learning rate; the Trainer gives its own
  OptimizerArgs args = {};                        // --optim_args
};

// Whether weight decay applies, by the Trainer's rule: not to biases and not to normalisation layers.
HEARTH_API bool decays(const Parameter& parameter);

// Elements [begin, end) of the arenas.
struct Interval {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

// Updates master weights from their gradients.
class HEARTH_API Optimizer {
 public:
  explicit Optimizer(ParameterStore& parameters) : parameters_(&parameters) {}
  virtual ~Optimizer() = default;

  // Gradients are multiplied by `grad_scale` as they are read, so clipping and loss scaling need no pass of their own.
  void step(double lr, float grad_scale = 1);
  // The step of a loop of one's own: with lr(), and with zero for parameters that no backward pass has reached.
  void step();
  void zero_grad() { parameters_->zero_grad(); }
  std::int64_t steps() const { return steps_; }

  double lr() const { return lr_; }
  void set_lr(double lr) { lr_ = lr; }  // an LrScheduler does
  ParameterStore& parameters() const { return *parameters_; }

  // The state to save for resuming: named arrays, named after the parameters, in the dtype that the optimizer keeps
  // them in. The arrays share the optimizer's memory: to load is to write into them, and requires all of them.
  using State = std::vector<std::pair<std::string, Tensor>>;
  virtual State state() const;
  // State with one number per updated weight: flat arrays in arena order. Empty if the optimizer has other state.
  virtual State moments() const { return {}; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

 protected:
  virtual void update(double lr, float grad_scale) = 0;

  ParameterStore* parameters_;
  std::int64_t steps_ = 0;

 private:
  double lr_ = 0;
};

HEARTH_API std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, ParameterStore& parameters);
// An optimizer that updates only the intervals `own` and keeps moments only for them; an Error if it cannot.
HEARTH_API std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, ParameterStore& parameters,
                                                     std::span<const Interval> own);

// torch.optim.AdamW with its defaults; weight decay applies to all parameters.
struct AdamWOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.01;
};
HEARTH_API std::shared_ptr<Optimizer> adamw(ParameterStore& parameters, const AdamWOptions& options = {});

// The L2 norm of all gradients; infinite or NaN if one of them is. Parameters that no backward has reached count as 0.
HEARTH_API double grad_norm(ParameterStore& parameters);
// The factor of torch's clip_grad_norm_: max_norm / (norm + 1e-6), at most 1; 1 if max_norm is 0.
HEARTH_API float clip_scale(double norm, double max_norm);

}  // namespace hearth::optim
