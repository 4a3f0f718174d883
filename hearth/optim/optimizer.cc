#include "hearth/optim/optimizer.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "hearth/base/profiler.h"
#include "hearth/kernels/update/optimizer.h"
#include "hearth/optim/moments.h"
#include "hearth/optim/optimizers.h"

namespace hearth::optim {

bool decays(const Parameter& parameter) {
  std::string name = parameter.parts.front().name;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return !parameter.is_norm && name.find("bias") == std::string::npos;
}

void Optimizer::step(double lr, float grad_scale) {
  const Span span("optimizer");
  ++steps_;
  for (const auto& parameter : parameters_->parameters()) drop_unread_copies(*parameter);
  parameters_->mark_updated();
  update(lr, grad_scale);
  for (const auto& parameter : parameters_->parameters()) mark_copies_unread(*parameter);
}

void Optimizer::step() {
  parameters_->complete_grads();
  step(lr_);
}

Optimizer::State Optimizer::state() const {
  State state;
  for (const auto& [name, values] : moments())
    for (auto& view : named_views(*parameters_, values, name)) state.push_back(std::move(view));
  return state;
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, ParameterStore& parameters) {
  const Interval all{0, parameters.size()};
  return make_optimizer(options, parameters, std::span(&all, 1));
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, ParameterStore& parameters,
                                          std::span<const Interval> own) {
  parameters.check_allocated();
  const OptimizerKind& kind = optimizer_kind(options.name);
  const bool whole = own.size() == 1 && own[0].size() == parameters.size();
  if (!whole) check_can_shard(options.name);
  OptimizerOptions resolved = options;
  resolved.args = with_defaults(options.args, kind.args, options.name);
  std::unique_ptr<Optimizer> optimizer = kind.make(resolved, parameters, own);
  optimizer->set_lr(options.lr);
  return optimizer;
}

std::shared_ptr<Optimizer> adamw(ParameterStore& parameters, const AdamWOptions& options) {
  return make_optimizer({.beta1 = options.beta1,
                         .beta2 = options.beta2,
                         .eps = options.eps,
                         .weight_decay = options.weight_decay,
                         .decays_all = true,
                         .lr = options.lr},
                        parameters);
}

double grad_norm(ParameterStore& parameters) {
  const Span span("gradient norm");
  parameters.complete_grads();
  return std::sqrt(kernels::sum_of_squares(parameters.size(), parameters.grad().data<float>()));
}

float clip_scale(double norm, double max_norm) {
  if (max_norm <= 0) return 1;
  const double scale = max_norm / (norm + 1e-6);
  return static_cast<float>(scale > 1 ? 1 : scale);  // NaN stays NaN
}

}  // namespace hearth::optim
