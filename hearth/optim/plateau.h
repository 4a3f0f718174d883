#pragma once

#include <cstdint>
#include <string>

namespace hearth::optim {

inline constexpr const char* kPlateauName = "reduce_lr_on_plateau";

struct PlateauOptions {
  std::string mode = "min";  // "max": a greater metric is better
  double factor = 0.1;
  std::int64_t patience = 10;          // evaluations without a gain before the rate is reduced
  double threshold = 1e-4;             // the smallest change that counts as a gain
  std::string threshold_mode = "rel";  // relative to the best metric; or "abs"
  std::int64_t cooldown = 0;           // evaluations after a reduction that do not count
  double min_lr = 0;
  double eps = 1e-8;  // a smaller reduction is not made
};

// A learning rate that is reduced when a metric has stopped getting better, as torch's ReduceLROnPlateau does it.
class Plateau {
 public:
  struct State {
    double lr = 0;
    double best = 0;
    std::int64_t without_gain = 0, cooldown_left = 0;  // evaluations
  };

  Plateau(const PlateauOptions& options, double initial_lr);

  void take(double metric);  // after an evaluation
  double lr() const { return state_.lr; }

  const PlateauOptions& options() const { return options_; }
  const State& state() const { return state_; }
  void restore(const State& state) { state_ = state; }

 private:
  bool is_gain(double metric) const;

  PlateauOptions options_;
  State state_;
};

}  // namespace hearth::optim
