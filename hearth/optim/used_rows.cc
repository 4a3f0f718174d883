#include "hearth/optim/used_rows.h"

#include <algorithm>

#include "hearth/cpu/parallel.h"
#include "hearth/kernels/simd/visit.h"

namespace hearth::optim {

UsedRows::UsedRows(const ParameterStore& parameters, double initial_moment)
    : initial_moment_(static_cast<float>(initial_moment)) {
  for (const Parameter* parameter : parameters.trainable())
    if (parameter->is_embedding) tables_.push_back({parameter, {}});
}

void UsedRows::add_gradients(std::span<const Range> ranges, const Optimizer::State& moments) {
  for (Table& table : tables_) {
    if (!known_) {
      table.used.assign(static_cast<std::size_t>(table.parameter->shape[0]), 0);
      find_in_moments(table, ranges, moments);
    }
    if (table.used.empty()) continue;
    if (table.parameter->grad_rows.is_all())
      table.used.clear();
    else
      for (const std::int32_t row : table.parameter->grad_rows.list()) table.used[static_cast<std::size_t>(row)] = 1;
  }
  known_ = true;
}

const std::uint8_t* UsedRows::flags_of(const Parameter& parameter) const {
  const auto table = std::ranges::find(tables_, &parameter, &Table::parameter);
  return table == tables_.end() || table->used.empty() ? nullptr : table->used.data();
}

void UsedRows::find_in_moments(Table& table, std::span<const Range> ranges, const Optimizer::State& moments) const {
  constexpr std::int64_t kRowsPerTask = 64;
  const auto differ = [&](const Tensor& values, std::int64_t begin, std::int64_t end) {
    bool found = false;
    kernels::visit_float(values.type(), [&](auto of_type) {
      using T = decltype(of_type);
      const auto initial = static_cast<float>(static_cast<T>(initial_moment_));  // as it is stored
      const T* const all = values.data<T>();
      found = std::any_of(all + begin, all + end, [&](T moment) { return static_cast<float>(moment) != initial; });
    });
    return found;
  };
  const std::int64_t cols = table.parameter->shape[1], first = table.parameter->offset;
  cpu::parallel_chunks(table.parameter->shape[0], kRowsPerTask, [&](std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t row = row_begin; row < row_end; ++row)
      for (const Range& range : ranges) {
        const std::int64_t begin = std::max(range.begin, first + row * cols);
        const std::int64_t end = std::min(range.end, first + (row + 1) * cols);
        for (const auto& [name, values] : moments) {
          if (begin >= end) break;
          const std::int64_t shift = range.moments - range.begin;
          if (differ(values, begin + shift, end + shift)) table.used[static_cast<std::size_t>(row)] = 1;
        }
      }
  });
}

}  // namespace hearth::optim
