#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/autograd/parameter.h"

namespace hearth::optim {

struct OptimizerOptions {
  std::string name = "adamw_torch";  // the Trainer's --optim: adamw_torch, adamw_torch_fused, sgd, adafactor
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  double weight_decay = 0;  // of the parameters that decay
  double momentum = 0;      // sgd
};

// Whether weight decay applies, as the Trainer decides it: not to biases, nor to parameters of normalisation layers.
bool decays(const Parameter& parameter);

// Elements of the arenas.
struct Interval {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

// Updates master weights from their gradients.
class Optimizer {
 public:
  explicit Optimizer(ParameterStore& parameters) : parameters_(&parameters) {}
  virtual ~Optimizer() = default;

  // Gradients are multiplied by `grad_scale` as they are read: clipping and loss scaling cost no pass of their own.
  void step(double lr, float grad_scale = 1);
  std::int64_t steps() const { return steps_; }

  // What must be saved to resume: arrays with the parameters' names in theirs. Loading asks for all of them.
  using State = std::vector<std::pair<std::string, Tensor>>;
  virtual State state() const;
  // The same where it has a number for each weight that is updated: flat arrays of those, in arena order.
  virtual State moments() const { return {}; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

 protected:
  virtual void update(double lr, float grad_scale) = 0;

  ParameterStore* parameters_;
  std::int64_t steps_ = 0;
};

std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, ParameterStore& parameters);
// One that updates no more than `own`, and has moments for nothing else; an Error where the optimizer cannot.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, ParameterStore& parameters,
                                          std::span<const Interval> own);

// The L2 norm over all gradients; infinite or NaN where one of them is.
double grad_norm(const ParameterStore& parameters);
// What clip_grad_norm_ multiplies gradients by: max_norm / (norm + 1e-6), at most 1; 1 where max_norm is 0.
float clip_scale(double norm, double max_norm);

}  // namespace hearth::optim
