#include "hearth/train/schedule_settings.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/base/nearest_name.h"
#include "hearth/io/json.h"

namespace hearth {
namespace {

const std::string kFlag = "--lr_scheduler_kwargs";

io::Json kwargs_of(const TrainingArguments& args) {
  if (!args.lr_scheduler_kwargs) return io::Json::object();
  io::Json kwargs = io::parse_json(*args.lr_scheduler_kwargs, kFlag);
  check(kwargs.is_object(), "{}: expected a JSON object, found {}", kFlag, io::excerpt(kwargs));
  for (const auto& [key, value] : kwargs.items())
    check(!value.is_number() || std::isfinite(value.get<double>()), "{}: {} must be a finite number, not {}", kFlag,
          key, io::excerpt(value));
  return kwargs;
}

void check_names(const io::Json& kwargs, const std::string& schedule) {
  std::vector<std::string> known, own;
  for (const optim::ScheduleKind& kind : optim::schedule_kinds()) {
    known.insert(known.end(), kind.settings.begin(), kind.settings.end());
    if (kind.name == schedule) own = kind.settings;
  }
  for (const auto& [key, value] : kwargs.items()) {
    if (std::ranges::find(own, key) != own.end()) continue;
    check(std::ranges::find(known, key) != known.end(), "{}: no schedule has a setting '{}'{}", kFlag, key,
          did_you_mean(nearest_name(key, own.empty() ? known : own)));
    fail("{}: {} has no setting '{}'; {}", kFlag, schedule, key,
         own.empty() ? "it has none, leave it out" : fmt::format("it has {}", fmt::join(own, ", ")));
  }
}

bool has(const io::Json& kwargs, const char* key) { return kwargs.contains(key) && !kwargs[key].is_null(); }

double min_factor_of(const io::Json& kwargs, const TrainingArguments& args) {
  if (args.lr_scheduler_type != "cosine_with_min_lr") return io::get_double_or(kwargs, "min_lr_ratio", 0, kFlag);
  const bool rate = has(kwargs, "min_lr"), share = has(kwargs, "min_lr_rate");
  check(rate != share, "--lr_scheduler_type cosine_with_min_lr needs either min_lr or min_lr_rate in {}, not {}", kFlag,
        rate ? "both" : "neither");
  if (share) return io::get_double(kwargs, "min_lr_rate", kFlag);
  check(args.learning_rate > 0, "{}: min_lr needs a --learning_rate above 0", kFlag);
  return io::get_double(kwargs, "min_lr", kFlag) / args.learning_rate;
}

}  // namespace

bool reduces_on_plateau(const TrainingArguments& args) { return args.lr_scheduler_type == optim::kPlateauName; }

optim::ScheduleOptions schedule_options(const TrainingArguments& args, std::int64_t total_steps) {
  const io::Json kwargs = kwargs_of(args);
  optim::ScheduleOptions options;
  options.name = args.lr_scheduler_type;
  options.warmup_steps = args.warmup_steps_of(total_steps);
  options.total_steps = total_steps;
  options.num_cycles = io::get_double_or(kwargs, "num_cycles", options.num_cycles, kFlag);
  options.power = io::get_double_or(kwargs, "power", options.power, kFlag);
  options.lr_end = io::get_double_or(kwargs, "lr_end", options.lr_end, kFlag);
  options.timescale = io::get_int_or(kwargs, "timescale", options.timescale, kFlag);
  options.min_factor = min_factor_of(kwargs, args);
  if (has(kwargs, "num_decay_steps")) options.num_decay_steps = io::get_int(kwargs, "num_decay_steps", kFlag);
  if (has(kwargs, "num_stable_steps")) options.num_stable_steps = io::get_int(kwargs, "num_stable_steps", kFlag);
  options.warmup_type = io::get_string_or(kwargs, "warmup_type", options.warmup_type, kFlag);
  options.decay_type = io::get_string_or(kwargs, "decay_type", options.decay_type, kFlag);
  return options;
}

optim::Plateau make_plateau(const TrainingArguments& args) {
  const io::Json kwargs = kwargs_of(args);
  optim::PlateauOptions options;
  options.mode = io::get_string_or(kwargs, "mode", options.mode, kFlag);
  options.factor = io::get_double_or(kwargs, "factor", options.factor, kFlag);
  options.patience = io::get_int_or(kwargs, "patience", options.patience, kFlag);
  options.threshold = io::get_double_or(kwargs, "threshold", options.threshold, kFlag);
  options.threshold_mode = io::get_string_or(kwargs, "threshold_mode", options.threshold_mode, kFlag);
  options.cooldown = io::get_int_or(kwargs, "cooldown", options.cooldown, kFlag);
  options.min_lr = io::get_double_or(kwargs, "min_lr", options.min_lr, kFlag);
  options.eps = io::get_double_or(kwargs, "eps", options.eps, kFlag);
  return {options, args.learning_rate};
}

void check_schedule(const TrainingArguments& args) {
  check_names(kwargs_of(args), args.lr_scheduler_type);
  if (!reduces_on_plateau(args)) {
    optim::schedule_factor(schedule_options(args, 1), 0, args.learning_rate);
    return;
  }
  make_plateau(args);
  check(args.eval_strategy != Strategy::no,
        "--lr_scheduler_type {} needs evaluations: give --eval_strategy steps or epoch", optim::kPlateauName);
}

}  // namespace hearth
