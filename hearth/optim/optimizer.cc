#include "hearth/optim/optimizer.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "hearth/base/profiler.h"
#include "hearth/kernels/optimizer.h"
#include "hearth/optim/adafactor.h"
#include "hearth/optim/adamw.h"
#include "hearth/optim/moments.h"
#include "hearth/optim/sgd.h"

namespace hearth::optim {

bool decays(const Parameter& parameter) {
  std::string name = parameter.parts.front().name;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return !parameter.is_norm && name.find("bias") == std::string::npos;
}

void Optimizer::step(double lr, float grad_scale) {
  const Span span("optimizer");
  ++steps_;
  parameters_->mark_changed();
  update(lr, grad_scale);
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
  if (options.name == "adamw_torch" || options.name == "adamw_torch_fused")
    return std::make_unique<AdamW>(options, parameters, own);
  if (options.name == "sgd") return std::make_unique<Sgd>(options, parameters, own);
  if (options.name == "adafactor") {
    check(own.size() == 1 && own[0].size() == parameters.size(),
          "--optim adafactor cannot be sharded, because its state covers whole rows and columns of a matrix: leave out "
          "--sharded_optimizer, or choose adamw_torch or sgd");
    return std::make_unique<Adafactor>(options, parameters);
  }
  fail("the optimizer '{}' is not known; choose adamw_torch, adamw_torch_fused, sgd or adafactor", options.name);
}

double grad_norm(const ParameterStore& parameters) {
  const Span span("gradient norm");
  return std::sqrt(kernels::sum_of_squares(parameters.size(), parameters.grad().data<float>()));
}

float clip_scale(double norm, double max_norm) {
  if (max_norm <= 0) return 1;
  const double scale = max_norm / (norm + 1e-6);
  return static_cast<float>(scale > 1 ? 1 : scale);  // NaN stays NaN
}

}  // namespace hearth::optim
