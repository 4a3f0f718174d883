#include "hearth/optim/schedule.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "hearth/base/check.h"
#include "hearth/optim/plateau.h"

namespace hearth::optim {
namespace {

double at_least_one(std::int64_t steps) { return static_cast<double>(std::max<std::int64_t>(1, steps)); }

double raised(double factor, double least) { return std::max(0.0, factor * (1 - least) + least); }

double waves(double cycles, double progress) {
  return 0.5 * (1 + std::cos(std::numbers::pi * (cycles < 0 ? 0.5 : cycles) * 2 * progress));
}

void check_ramp(std::string_view setting, std::string_view type) {
  check(type == "linear" || type == "cosine" || type == "1-sqrt",
        "warmup_stable_decay: {} '{}' is not known; choose linear, cosine or 1-sqrt", setting, type);
}

void check_options(const ScheduleOptions& options, double initial_lr) {
  const std::vector<std::string> names = schedule_names();
  check(std::ranges::find(names, options.name) != names.end(), "the schedule '{}' is not known; choose one of {}",
        options.name, fmt::join(names, ", "));
  check(options.name != kPlateauName, "{} depends on evaluation metrics, not on the number of the update",
        kPlateauName);
  check(options.name != "polynomial" || initial_lr > options.lr_end,
        "polynomial decay ends at a learning rate of {}, which must be below the initial one, {}", options.lr_end,
        initial_lr);
  if (options.name != "warmup_stable_decay") return;
  check(options.num_decay_steps.has_value(), "warmup_stable_decay needs num_decay_steps, the updates of its decay");
  check_ramp("warmup_type", options.warmup_type);
  check_ramp("decay_type", options.decay_type);
}

double inverse_sqrt(const ScheduleOptions& options, std::int64_t step) {
  const std::int64_t timescale =
      options.timescale > 0 ? options.timescale : (options.warmup_steps > 0 ? options.warmup_steps : 10000);
  const auto shift = static_cast<double>(timescale - options.warmup_steps);
  return 1.0 / std::sqrt((static_cast<double>(step) + shift) / static_cast<double>(timescale));
}

double polynomial(const ScheduleOptions& options, std::int64_t step, double progress, double initial_lr) {
  if (step > options.total_steps) return options.lr_end / initial_lr;
  const double range = initial_lr - options.lr_end;
  return (range * std::pow(1 - progress, options.power) + options.lr_end) / initial_lr;
}

double warmup_stable_decay(const ScheduleOptions& options, std::int64_t step) {
  const std::int64_t warmup = options.warmup_steps, decay = *options.num_decay_steps;
  if (step < warmup) {
    const double progress = static_cast<double>(step) / at_least_one(warmup);
    const double factor = options.warmup_type == "linear"   ? progress
                          : options.warmup_type == "cosine" ? 0.5 * (1 - std::cos(std::numbers::pi * progress))
                                                            : 1 - std::sqrt(1 - progress);
    return raised(factor, options.min_factor);
  }
  const std::int64_t stable_end = warmup + options.num_stable_steps.value_or(options.total_steps - warmup - decay);
  if (step < stable_end) return 1;
  if (step >= stable_end + decay) return options.min_factor;
  const double progress = static_cast<double>(step - stable_end) / at_least_one(decay);
  const double factor = options.decay_type == "linear"   ? 1 - progress
                        : options.decay_type == "cosine" ? waves(options.num_cycles, progress)
                                                         : 1 - std::sqrt(progress);
  return raised(factor, options.min_factor);
}

}  // namespace

const std::vector<ScheduleKind>& schedule_kinds() {
  static const std::vector<ScheduleKind> kinds{
      {"linear", {}},
      {"cosine", {"num_cycles"}},
      {"cosine_with_restarts", {"num_cycles"}},
      {"polynomial", {"power", "lr_end"}},
      {"constant", {}},
      {"constant_with_warmup", {}},
      {"inverse_sqrt", {"timescale"}},
      {"cosine_with_min_lr", {"min_lr", "min_lr_rate", "num_cycles"}},
      {"warmup_stable_decay",
       {"num_decay_steps", "num_stable_steps", "warmup_type", "decay_type", "min_lr_ratio", "num_cycles"}},
      {kPlateauName, {"mode", "factor", "patience", "threshold", "threshold_mode", "cooldown", "min_lr", "eps"}}};
  return kinds;
}

std::vector<std::string> schedule_names() {
  std::vector<std::string> names;
  for (const ScheduleKind& kind : schedule_kinds()) names.push_back(kind.name);
  return names;
}

double schedule_factor(const ScheduleOptions& options, std::int64_t step, double initial_lr) {
  check_options(options, initial_lr);
  const std::string_view name = options.name;
  if (name == "constant") return 1;
  if (name == "warmup_stable_decay") return warmup_stable_decay(options, step);
  if (step < options.warmup_steps) return static_cast<double>(step) / at_least_one(options.warmup_steps);
  if (name == "constant_with_warmup") return 1;
  if (name == "inverse_sqrt") return inverse_sqrt(options, step);
  const double decaying_steps = at_least_one(options.total_steps - options.warmup_steps);
  if (name == "linear") return std::max(0.0, static_cast<double>(options.total_steps - step) / decaying_steps);
  const double progress = static_cast<double>(step - options.warmup_steps) / decaying_steps;
  if (name == "polynomial") return polynomial(options, step, progress, initial_lr);
  if (name == "cosine") return std::max(0.0, waves(options.num_cycles, progress));
  if (name == "cosine_with_min_lr") return raised(waves(options.num_cycles, progress), options.min_factor);
  if (progress >= 1) return 0;
  const double cycles = options.num_cycles < 0 ? 1 : options.num_cycles;
  return std::max(0.0, 0.5 * (1 + std::cos(std::numbers::pi * std::fmod(cycles * progress, 1.0))));
}

}  // namespace hearth::optim
