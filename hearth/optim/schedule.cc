#include "hearth/optim/schedule.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "hearth/base/error.h"

namespace hearth::optim {
namespace {

constexpr std::array<std::string_view, 7> kNames = {
    "linear", "cosine", "cosine_with_restarts", "polynomial", "constant", "constant_with_warmup", "inverse_sqrt"};

double at_least_one(std::int64_t steps) { return static_cast<double>(std::max<std::int64_t>(1, steps)); }

}  // namespace

bool is_schedule(std::string_view name) { return std::ranges::find(kNames, name) != kNames.end(); }

double schedule_factor(const ScheduleOptions& options, std::int64_t step, double initial_lr) {
  const std::string_view name = options.name;
  check(is_schedule(name), "the schedule '{}' is not known; choose one of {}", name, fmt::join(kNames, ", "));
  check(name != "polynomial" || initial_lr > options.lr_end,
        "polynomial decay ends at a learning rate of {}, which must be below the initial one, {}", options.lr_end,
        initial_lr);
  if (name == "constant") return 1;
  const auto now = static_cast<double>(step);
  if (name == "inverse_sqrt") {
    const std::int64_t timescale =
        options.timescale > 0 ? options.timescale : (options.warmup_steps > 0 ? options.warmup_steps : 10000);
    if (step < options.warmup_steps) return now / at_least_one(options.warmup_steps);
    const auto shift = static_cast<double>(timescale - options.warmup_steps);
    return 1.0 / std::sqrt((now + shift) / static_cast<double>(timescale));
  }
  if (step < options.warmup_steps) return now / at_least_one(options.warmup_steps);
  if (name == "constant_with_warmup") return 1;
  if (name == "linear")
    return std::max(0.0, static_cast<double>(options.total_steps - step) /
                             at_least_one(options.total_steps - options.warmup_steps));
  if (name == "polynomial") {
    if (step > options.total_steps) return options.lr_end / initial_lr;
    const double range = initial_lr - options.lr_end;
    const double left =
        1 - static_cast<double>(step - options.warmup_steps) / at_least_one(options.total_steps - options.warmup_steps);
    return (range * std::pow(left, options.power) + options.lr_end) / initial_lr;
  }
  const double progress =
      static_cast<double>(step - options.warmup_steps) / at_least_one(options.total_steps - options.warmup_steps);
  if (name == "cosine") {
    const double cycles = options.num_cycles < 0 ? 0.5 : options.num_cycles;
    return std::max(0.0, 0.5 * (1 + std::cos(std::numbers::pi * cycles * 2 * progress)));
  }
  if (progress >= 1) return 0;
  const double cycles = options.num_cycles < 0 ? 1 : options.num_cycles;
  return std::max(0.0, 0.5 * (1 + std::cos(std::numbers::pi * std::fmod(cycles * progress, 1.0))));
}

}  // namespace hearth::optim
