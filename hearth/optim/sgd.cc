#include "hearth/optim/sgd.h"

#include "hearth/kernels/optimizer.h"
#include "hearth/optim/update_pieces.h"

namespace hearth::optim {

Sgd::Sgd(const OptimizerOptions& options, ParameterStore& parameters, std::span<const Interval> own)
    : Optimizer(parameters), options_(options), ranges_(ranges(parameters, options.weight_decay != 0, own)) {
  if (options.momentum != 0) momentum_ = zero_moments(own);
}

Optimizer::State Sgd::moments() const { return momentum_.defined() ? State{{"momentum_buffer", momentum_}} : State{}; }

void Sgd::update(double lr, float grad_scale) {
  update_pieces(*parameters_, ranges_, [&](const Range& range) {
    const kernels::SgdStep step{lr, options_.momentum, range.decays ? options_.weight_decay : 0, grad_scale,
                                steps_ == 1};
    kernels::sgd(step, range.end - range.begin, parameters_->master().data<float>() + range.begin,
                 parameters_->grad().data<float>() + range.begin,
                 momentum_.defined() ? momentum_.data<float>() + range.moments : nullptr);
  });
}

}  // namespace hearth::optim
