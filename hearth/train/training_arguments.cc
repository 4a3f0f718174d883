#include "hearth/train/training_arguments.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>

#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/optim/optimizers.h"
#include "hearth/train/schedule_settings.h"
#include "hearth/train/torch_optimizer.h"

namespace hearth {
namespace {

const std::string kLastCheckpoint = "True";  // of --resume_from_checkpoint, as the Trainer has it

void check_whole_above_one(double steps, std::string_view name) {
  check(steps <= 1 || steps == std::floor(steps), "--{} must be a whole number of steps, or a ratio below 1, not {}",
        name, steps);
}

// Ratios are compared in millionths, so that 0.3 is a multiple of 0.1.
bool is_multiple(double steps, double of) {
  if (of == 0 || (steps < 1) != (of < 1)) return false;
  const double unit = steps < 1 ? 1e6 : 1;
  return std::llround(of * unit) != 0 && std::llround(steps * unit) % std::llround(of * unit) == 0;
}

void check_optimizer(const TrainingArguments& args) {
  const optim::OptimizerArgs given = optim::parse_optimizer_args(args.optim_args.value_or(""));
  optim::with_defaults(given, optim::optimizer_kind(args.optim).args, args.optim);
  if (args.sharded_optimizer) optim::check_can_shard(args.optim);
}

// The names may also stand in one word, with spaces between them, as the Trainer takes them.
std::vector<std::string> names_in(const std::vector<std::string>& words) {
  std::istringstream text(fmt::format("{}", fmt::join(words, " ")));
  return {std::istream_iterator<std::string>(text), {}};
}

void check_debug(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    check(value_named<DebugAid>(name).has_value(), "--debug: '{}' is none of {}", name,
          fmt::join(names_of(DebugAid{}), ", "));
}

// "all" and "none" as the Trainer takes them.
std::vector<std::string> resolved_trackers(const std::vector<std::string>& names) {
  if (names == std::vector<std::string>{"none"}) return {};
  std::vector<std::string> result;
  for (const std::string& name : names) {
    if (name == "all") {
      for (const std::string_view each : names_of(Tracker{})) result.emplace_back(each);
      continue;
    }
    check(value_named<Tracker>(name).has_value() || std::ranges::find(kOtherTrackers, name) != std::end(kOtherTrackers),
          "--report_to: '{}' is none of {}, all, none", name, fmt::join(names_of(Tracker{}), ", "));
    result.push_back(name);
  }
  return result;
}

void check_trackers(const TrainingArguments& args) {
  check(!args.log_histograms || args.reports_to(Tracker::tensorboard),
        "--log_histograms needs --report_to tensorboard, which is what it writes to");
  check(!(args.log_histograms && args.sharded_optimizer),
        "--log_histograms and --sharded_optimizer exclude each other: no rank has all gradients");
}

}  // namespace

void TrainingArguments::validate() {
  output_dir = with_home(output_dir);
  if (resume_from_checkpoint == "true") resume_from_checkpoint = kLastCheckpoint;
  if (resume_from_checkpoint == "False" || resume_from_checkpoint == "false") resume_from_checkpoint.reset();
  if (save_total_limit && *save_total_limit <= 0) save_total_limit.reset();
  check(!output_dir.empty(), "--output_dir is empty: name a folder");

  Arguments options;
  declare(options, *this);
  options.check_values();

  check(!(group_by_length && train_sampling_strategy == Sampling::sequential),
        "--group_by_length and --train_sampling_strategy sequential contradict each other: give one of them");
  if (group_by_length) train_sampling_strategy = Sampling::group_by_length;
  group_by_length = train_sampling_strategy == Sampling::group_by_length;

  debug = names_in(debug);
  check_debug(debug);
  report_to = resolved_trackers(names_in(report_to));
  check_trackers(*this);
  check_optimizer(*this);
  if (save_format != SaveFormat::safetensors) check_torch_optimizer(optim);
  check(
      !(sharded_optimizer && save_on_each_node),
      "--sharded_optimizer and --save_on_each_node exclude each other: one machine gathers and saves the whole state");
  check(!(fp16 && bf16), "--fp16 and --bf16 exclude each other: give one of them");
  check(!(fp16_full_eval && bf16_full_eval),
        "--fp16_full_eval and --bf16_full_eval exclude each other: give one of them");

  check_whole_above_one(warmup_steps, "warmup_steps");
  if (logging_strategy == Strategy::steps) {
    check(logging_steps > 0, "--logging_strategy steps needs --logging_steps above 0");
    check_whole_above_one(logging_steps, "logging_steps");
  }
  if (eval_strategy == Strategy::steps) {
    if (eval_steps.value_or(0) == 0) eval_steps = logging_steps;
    check(*eval_steps > 0, "--eval_strategy steps needs --eval_steps or --logging_steps above 0");
    check_whole_above_one(*eval_steps, "eval_steps");
  }
  if (save_strategy == Strategy::steps) check_whole_above_one(save_steps, "save_steps");
  do_eval = do_eval || eval_strategy != Strategy::no;

  if (load_best_model_at_end && save_strategy != Strategy::best) {
    check(eval_strategy == save_strategy,
          "--load_best_model_at_end needs --eval_strategy and --save_strategy to be the same, not {} and {}",
          name_of(eval_strategy), name_of(save_strategy));
    check(eval_strategy != Strategy::steps || is_multiple(save_steps, *eval_steps),
          "--load_best_model_at_end needs --save_steps ({}) to be a multiple of --eval_steps ({})", save_steps,
          eval_steps.value_or(0));
  }
  const bool tracks_best = load_best_model_at_end || early_stopping_patience.has_value();
  check(!(tracks_best || save_strategy == Strategy::best) || eval_strategy != Strategy::no,
        "{} needs evaluations to compare: give --eval_strategy steps or epoch",
        save_strategy == Strategy::best ? "--save_strategy best"
        : load_best_model_at_end        ? "--load_best_model_at_end"
                                        : "--early_stopping_patience");
  check(save_strategy != Strategy::best || metric_for_best_model, "--save_strategy best needs --metric_for_best_model");
  check_schedule(*this);
  if ((tracks_best || reduces_on_plateau(*this)) && !metric_for_best_model) metric_for_best_model = "loss";
  if (metric_for_best_model && !greater_is_better) greater_is_better = !metric_for_best_model->ends_with("loss");
}

bool TrainingArguments::uses(DebugAid aid) const { return std::ranges::find(debug, name_of(aid)) != debug.end(); }

bool TrainingArguments::reports_to(Tracker tracker) const {
  return std::ranges::find(report_to, name_of(tracker)) != report_to.end();
}

bool TrainingArguments::resumes_from_last() const { return resume_from_checkpoint == kLastCheckpoint; }

DType TrainingArguments::train_dtype() const { return bf16 ? DType::bf16 : fp16 ? DType::f16 : DType::f32; }

DType TrainingArguments::eval_dtype() const {
  return bf16_full_eval ? DType::bf16 : fp16_full_eval ? DType::f16 : train_dtype();
}

std::int64_t TrainingArguments::warmup_steps_of(std::int64_t total_steps) const {
  if (warmup_steps > 0) return in_steps(warmup_steps, total_steps);
  return static_cast<std::int64_t>(std::ceil(warmup_ratio * static_cast<double>(total_steps)));
}

std::int64_t in_steps(double steps_or_ratio, std::int64_t total_steps) {
  const double steps =
      steps_or_ratio < 1 ? std::ceil(steps_or_ratio * static_cast<double>(total_steps)) : steps_or_ratio;
  return static_cast<std::int64_t>(steps);
}

}  // namespace hearth
