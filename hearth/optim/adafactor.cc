#include "hearth/optim/adafactor.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "hearth/cpu/parallel.h"

namespace hearth::optim {
namespace {

constexpr float kEps = 1e-30f, kClipThreshold = 1.0f, kDecayRate = -0.8f;
constexpr std::int64_t kChunkElements = 1 << 17;

float mean(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += value;
  return static_cast<float>(sum / static_cast<double>(values.size()));
}

std::span<float> values_of(const Tensor& tensor) {
  return {tensor.data<float>(), static_cast<std::size_t>(tensor.size())};
}

float decayed(float moment, float beta2, double square) {
  return beta2 * moment + (1 - beta2) * static_cast<float>(square);
}

}  // namespace

Adafactor::Adafactor(const OptimizerOptions& options, ParameterStore& parameters)
    : Optimizer(parameters), options_(options) {
  for (Parameter* parameter : parameters.trainable())
    for (const Parameter::Part& part : parameter->parts) {
      Slot slot;
      slot.parameter = parameter;
      slot.part = &part;
      slot.first_chunk = chunks_.size();
      const bool matrix = part.shape.rank() == 2;
      const std::int64_t rows = matrix ? part.shape[0] : 1, cols = part.shape.size() / std::max<std::int64_t>(1, rows);
      if (matrix) {
        slot.rows = Tensor::zeros({rows}, DType::f32);
        slot.cols = Tensor::zeros({cols}, DType::f32);
      } else {
        slot.full = Tensor::zeros(part.shape, DType::f32);
      }
      slot.row_factors.assign(static_cast<std::size_t>(rows), 1);
      slot.col_factors.assign(static_cast<std::size_t>(cols), 1);
      const std::int64_t length = std::max<std::int64_t>(1, kChunkElements / std::max<std::int64_t>(1, cols));
      for (std::int64_t row = 0; row < rows; row += length)
        chunks_.push_back({slots_.size(), row, std::min(rows, row + length), {}, 0});
      slot.end_chunk = chunks_.size();
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
  const auto for_all = [](auto& items, const auto& action) {
    cpu::parallel_for(std::ssize(items), [&](std::int64_t i) { action(items[static_cast<std::size_t>(i)]); });
  };
  for_all(chunks_, [&](Chunk& chunk) { take_moments(chunk, grad_scale, beta2); });
  for_all(slots_, [&](Slot& slot) { find_factors(slot, beta2); });
  for_all(chunks_, [&](Chunk& chunk) {
    double squares = 0;
    for_steps(chunk, grad_scale, [&](float&, float step) { squares += double{step} * step; });
    chunk.squares = squares;
  });
  for_all(slots_, [&](Slot& slot) { find_scale(slot, lr); });
  for_all(chunks_, [&](const Chunk& chunk) {
    const Slot& slot = slots_[chunk.slot];
    const auto decay =
        static_cast<float>(options_.decays_all || decays(*slot.parameter) ? options_.weight_decay * lr : 0.0);
    const float scale = slot.scale;
    for_steps(chunk, grad_scale, [=](float& weight, float step) { weight -= decay * weight + scale * step; });
  });
}

// Updates the moments of a vector or of the chunk's rows, and sums up what the column moments are made of.
void Adafactor::take_moments(Chunk& chunk, float grad_scale, float beta2) {
  Slot& slot = slots_[chunk.slot];
  const std::span<const float> gradients = values_of(slot.parameter->grad_part(*slot.part));
  const std::size_t cols = slot.col_factors.size();
  const auto square = [=](float gradient) {
    const float value = gradient * grad_scale;
    return value * value + kEps;
  };
  if (slot.full.defined()) {
    const std::span<float> moments = values_of(slot.full);
    for (std::size_t c = 0; c < cols; ++c) {
      moments[c] = decayed(moments[c], beta2, square(gradients[c]));
      slot.col_factors[c] = 1 / std::sqrt(moments[c]);
    }
    return;
  }
  chunk.col_sums.assign(cols, 0);
  for (std::int64_t row = chunk.begin; row < chunk.end; ++row) {
    const float* const values = gradients.data() + static_cast<std::size_t>(row) * cols;
    double sum = 0;
    for (std::size_t c = 0; c < cols; ++c) {
      const double value = square(values[c]);
      sum += value;
      chunk.col_sums[c] += value;
    }
    float& moment = slot.rows.data<float>()[row];
    moment = decayed(moment, beta2, sum / static_cast<double>(cols));
  }
}

void Adafactor::find_factors(Slot& slot, float beta2) {
  if (slot.full.defined()) return;
  const std::span<float> rows = values_of(slot.rows), cols = values_of(slot.cols);
  std::vector<double> sums(cols.size());
  for (std::size_t chunk = slot.first_chunk; chunk < slot.end_chunk; ++chunk)
    for (std::size_t c = 0; c < cols.size(); ++c) sums[c] += chunks_[chunk].col_sums[c];
  for (std::size_t c = 0; c < cols.size(); ++c) {
    cols[c] = decayed(cols[c], beta2, sums[c] / static_cast<double>(rows.size()));
    slot.col_factors[c] = 1 / std::sqrt(cols[c]);
  }
  const float row_mean = mean(rows);
  for (std::size_t r = 0; r < rows.size(); ++r) slot.row_factors[r] = 1 / std::sqrt(rows[r] / row_mean);
}

void Adafactor::find_scale(Slot& slot, double lr) const {
  double squares = 0;
  for (std::size_t chunk = slot.first_chunk; chunk < slot.end_chunk; ++chunk) squares += chunks_[chunk].squares;
  const auto rms = static_cast<float>(std::sqrt(squares / static_cast<double>(slot.part->shape.size())));
  slot.scale = static_cast<float>(lr / std::max(1.0f, rms / kClipThreshold));
}

template <class Use>
void Adafactor::for_steps(const Chunk& chunk, float grad_scale, const Use& use) const {
  const Slot& slot = slots_[chunk.slot];
  const std::span<float> weights = values_of(slot.parameter->master_part(*slot.part));
  const std::span<const float> gradients = values_of(slot.parameter->grad_part(*slot.part));
  const std::size_t cols = slot.col_factors.size();
  for (std::int64_t row = chunk.begin; row < chunk.end; ++row) {
    const std::size_t first = static_cast<std::size_t>(row) * cols;
    const float row_factor = slot.row_factors[static_cast<std::size_t>(row)] * grad_scale;
    for (std::size_t c = 0; c < cols; ++c)
      use(weights[first + c], gradients[first + c] * (row_factor * slot.col_factors[c]));
  }
}

}  // namespace hearth::optim
