#include "hearth/optim/adamw.h"

#include "hearth/kernels/optimizer.h"
#include "hearth/optim/update_pieces.h"

namespace hearth::optim {

AdamW::AdamW(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own)
    : Optimizer(parameters),
      options_(options),
      ranges_(ranges(parameters, options.weight_decay != 0, own)),
      first_(zero_moments(own)),
      second_(zero_moments(own)) {}

Optimizer::State AdamW::moments() const { return {{"exp_avg", first_}, {"exp_avg_sq", second_}}; }

void AdamW::update(double lr, float grad_scale) {
  kernels::AdamWStep step;
  step.lr = lr;
  step.beta1 = options_.beta1;
  step.beta2 = options_.beta2;
  step.eps = options_.eps;
  step.step = steps_;
  step.grad_scale = grad_scale;
  update_pieces(*parameters_, ranges_, [&](const Range& range) {
    kernels::AdamWStep own = step;
    own.weight_decay = range.decays ? options_.weight_decay : 0;
    kernels::adamw(own, range.end - range.begin, parameters_->master().data<float>() + range.begin,
                   parameters_->grad().data<float>() + range.begin, first_.data<float>() + range.moments,
                   second_.data<float>() + range.moments);
  });
}

}  // namespace hearth::optim
