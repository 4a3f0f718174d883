#include "hearth/optim/plateau.h"

#include <algorithm>
#include <limits>

#include "hearth/base/check.h"

namespace hearth::optim {

Plateau::Plateau(const PlateauOptions& options, double initial_lr) : options_(options) {
  check(options_.mode == "min" || options_.mode == "max", "{}: mode '{}' is not known; choose min or max", kPlateauName,
        options_.mode);
  check(options_.threshold_mode == "rel" || options_.threshold_mode == "abs",
        "{}: threshold_mode '{}' is not known; choose rel or abs", kPlateauName, options_.threshold_mode);
  check(options_.factor < 1, "{}: factor must be below 1, not {}", kPlateauName, options_.factor);
  constexpr double kWorst = std::numeric_limits<double>::infinity();
  state_.lr = initial_lr;
  state_.best = options_.mode == "min" ? kWorst : -kWorst;
}

bool Plateau::is_gain(double metric) const {
  const bool relative = options_.threshold_mode == "rel";
  if (options_.mode == "min")
    return metric < (relative ? state_.best * (1 - options_.threshold) : state_.best - options_.threshold);
  return metric > (relative ? state_.best * (1 + options_.threshold) : state_.best + options_.threshold);
}

void Plateau::take(double metric) {
  if (is_gain(metric)) {
    state_.best = metric;
    state_.without_gain = 0;
  } else {
    ++state_.without_gain;
  }
  if (state_.cooldown_left > 0) {
    --state_.cooldown_left;
    state_.without_gain = 0;
  }
  if (state_.without_gain <= options_.patience) return;
  const double reduced = std::max(state_.lr * options_.factor, options_.min_lr);
  if (state_.lr - reduced > options_.eps) state_.lr = reduced;
  state_.cooldown_left = options_.cooldown;
  state_.without_gain = 0;
}

}  // namespace hearth::optim
