#include "hearth/optim/elementwise.h"

#include <cmath>

#include "hearth/base/check.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/optim/update_pieces.h"

namespace hearth::optim {

ElementwiseOptimizer::ElementwiseOptimizer(const OptimizerOptions& options, ParameterStore& parameters,
                                           std::span<const Interval> own, const std::vector<std::string>& moment_names,
                                           double initial_moment, DType moment_type)
    : Optimizer(parameters),
      options_(options),
      ranges_(ranges(parameters, options.weight_decay != 0 && !options.decays_all, own)),
      used_rows_(parameters, initial_moment) {
  check(moment_names.size() <= Piece{}.moment_arrays.size(),
        "[ElementwiseOptimizer] {} moments do not fit into a Piece", moment_names.size());
  for (const std::string& name : moment_names) {
    const Tensor moments = zero_moments(own, moment_type);
    if (initial_moment != 0)
      kernels::fill(moment_type, moments.size(), static_cast<float>(initial_moment), moments.raw());
    moments_.emplace_back(name, moments);
  }
}

// The caller may change the moments, as loading a checkpoint does.
Optimizer::State ElementwiseOptimizer::moments() const {
  used_rows_.forget();
  return moments_;
}

void ElementwiseOptimizer::update(double lr, float grad_scale) {
  // Weight decay changes every row, and a scale that is not finite makes NaN of zeros.
  const bool leaves_out_rows = options_.weight_decay == 0 && std::isfinite(grad_scale);
  if (leaves_out_rows)
    used_rows_.add_gradients(ranges_, moments_);
  else
    used_rows_.forget();
  update_pieces(*parameters_, ranges_, leaves_out_rows ? &used_rows_ : nullptr, [&](const Range& range) {
    Piece piece;
    piece.begin = range.begin;
    piece.size = range.end - range.begin;
    piece.weight_decay = range.decays || options_.decays_all ? options_.weight_decay : 0;
    piece.weights = parameters_->master().data<float>() + range.begin;
    piece.gradients = parameters_->grad().data<float>() + range.begin;
    for (std::size_t i = 0; i < moments_.size(); ++i) {
      const Tensor& moments = moments_[i].second;
      piece.moment_arrays[i] =
          static_cast<std::byte*>(moments.raw()) + range.moments * static_cast<std::int64_t>(size_of(moments.type()));
    }
    update_piece(piece, lr, grad_scale);
  });
}

}  // namespace hearth::optim
