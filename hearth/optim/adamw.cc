#include "hearth/optim/adamw.h"

#include "hearth/kernels/optimizer.h"

namespace hearth::optim {

AdamW::AdamW(const OptimizerOptions& options, ParameterStore& parameters)
    : Optimizer(parameters),
      options_(options),
      ranges_(ranges(parameters, options.weight_decay != 0)),
      first_(Tensor::zeros({parameters.size()}, DType::f32)),
      second_(Tensor::zeros({parameters.size()}, DType::f32)) {}

Optimizer::State AdamW::state() const {
  State state = named_views(*parameters_, first_, "exp_avg");
  for (auto& entry : named_views(*parameters_, second_, "exp_avg_sq")) state.push_back(std::move(entry));
  return state;
}

void AdamW::update(double lr, float grad_scale) {
  kernels::AdamWStep step;
  step.lr = lr;
  step.beta1 = options_.beta1;
  step.beta2 = options_.beta2;
  step.eps = options_.eps;
  step.step = steps_;
  step.grad_scale = grad_scale;
  for (const Range& range : ranges_) {
    step.weight_decay = range.decays ? options_.weight_decay : 0;
    kernels::adamw(step, range.end - range.begin, parameters_->master().data<float>() + range.begin,
                   parameters_->grad().data<float>() + range.begin, first_.data<float>() + range.begin,
                   second_.data<float>() + range.begin);
  }
}

}  // namespace hearth::optim
