#include "hearth/optim/adafactor.h"

#include <cmath>
#include <span>

#include "hearth/cpu/parallel.h"

namespace hearth::optim {
namespace {

constexpr float kEps = 1e-30f, kClipThreshold = 1.0f, kDecayRate = -0.8f;

float mean(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return static_cast<float>(sum / static_cast<double>(values.size()));
}

std::span<float> values_of(const Tensor& tensor) {
  return {tensor.data<float>(), static_cast<std::size_t>(tensor.size())};
}

}  // namespace

Adafactor::Adafactor(const OptimizerOptions& options, ParameterStore& parameters)
    : Optimizer(parameters), options_(options) {
  for (const auto& parameter : parameters.parameters())
    for (const Parameter::Part& part : parameter->parts) {
      Slot slot{parameter.get(), &part, {}, {}, {}};
      if (part.shape.rank() == 2) {
        slot.rows = Tensor::zeros({part.shape[0]}, DType::f32);
        slot.cols = Tensor::zeros({part.shape[1]}, DType::f32);
      } else {
        slot.full = Tensor::zeros(part.shape, DType::f32);
      }
      slots_.push_back(std::move(slot));
    }
}

Optimizer::State Adafactor::state() const {
  State state;
  for (const Slot& slot : slots_) {
    if (slot.full.defined()) {
      state.emplace_back("exp_avg_sq." + slot.part->name, slot.full);
    } else {
      state.emplace_back("exp_avg_sq_row." + slot.part->name, slot.rows);
      state.emplace_back("exp_avg_sq_col." + slot.part->name, slot.cols);
    }
  }
  return state;
}

void Adafactor::update(double lr, float grad_scale) {
  const float beta2 = 1.0f - std::pow(static_cast<float>(steps_), kDecayRate);
  cpu::parallel_for(static_cast<std::int64_t>(slots_.size()),
                    [&](std::int64_t i) { update_slot(slots_[static_cast<std::size_t>(i)], lr, grad_scale, beta2); });
}

void Adafactor::update_slot(const Slot& slot, double lr, float grad_scale, float beta2) const {
  const std::span<float> p = values_of(slot.parameter->master_part(*slot.part));
  const std::span<float> g = values_of(slot.parameter->grad_part(*slot.part));
  std::vector<float> step(p.size());
  for (std::size_t i = 0; i < g.size(); ++i) step[i] = g[i] * grad_scale;

  if (slot.full.defined()) {
    const std::span<float> v = values_of(slot.full);
    for (std::size_t i = 0; i < v.size(); ++i) {
      v[i] = beta2 * v[i] + (1 - beta2) * (step[i] * step[i] + kEps);
      step[i] /= std::sqrt(v[i]);
    }
  } else {
    const std::span<float> rows = values_of(slot.rows), cols = values_of(slot.cols);
    std::vector<double> col_sums(cols.size());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      double row_sum = 0;
      for (std::size_t c = 0; c < cols.size(); ++c) {
        const float value = step[r * cols.size() + c];
        const double square = double{value * value + kEps};
        row_sum += square;
        col_sums[c] += square;
      }
      rows[r] = beta2 * rows[r] + (1 - beta2) * static_cast<float>(row_sum / static_cast<double>(cols.size()));
    }
    for (std::size_t c = 0; c < cols.size(); ++c)
      cols[c] = beta2 * cols[c] + (1 - beta2) * static_cast<float>(col_sums[c] / static_cast<double>(rows.size()));
    const float row_mean = mean(rows);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const float row_factor = 1.0f / std::sqrt(rows[r] / row_mean);
      for (std::size_t c = 0; c < cols.size(); ++c) step[r * cols.size() + c] *= row_factor / std::sqrt(cols[c]);
    }
  }

  double squares = 0;
  for (const float value : step) squares += double{value} * value;
  const auto rms = static_cast<float>(std::sqrt(squares / static_cast<double>(step.size())));
  const auto scale = static_cast<float>(lr / std::max(1.0f, rms / kClipThreshold));
  const auto decay = static_cast<float>(decays(*slot.parameter) ? options_.weight_decay * lr : 0.0);
  for (std::size_t i = 0; i < p.size(); ++i) p[i] -= decay * p[i] + scale * step[i];
}

}  // namespace hearth::optim
