#include "hearth/apps/run_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "hearth/base/log.h"
#include "hearth/base/stop_signals.h"
#include "hearth/cpu/isa.h"
#include "hearth/cpu/parallel.h"
#include "hearth/cpu/system.h"
#include "hearth/io/checkpoint_folders.h"
#include "hearth/train/best_metric.h"
#include "hearth/train/results.h"
#include "hearth/train/trainer_state.h"

namespace hearth::apps {
namespace {

void log_row(std::string_view name, std::string_view value, std::string_view mark = "") {
  log_info("  {:<30} {}{}", name, value, mark);
}

void log_every_setting(std::span<const Arguments::Resolved> settings) {
  std::string section;
  for (const Arguments::Resolved& setting : settings) {
    if (setting.section != section) log_info("{}", section = setting.section);
    log_row(setting.name, setting.text, setting.is_default ? "" : "  *");
  }
  log_info("  (* differs from the default)");
}

void log_changed_settings(std::span<const Arguments::Resolved> settings) {
  log_info("Settings that differ from their defaults (--verbose shows all)");
  for (const Arguments::Resolved& setting : settings)
    if (!setting.is_default) log_row(setting.name, setting.text);
}

std::string bytes_text(std::size_t bytes) {
  const double mebibytes = static_cast<double>(bytes) / (1 << 20);
  return mebibytes < 1024 ? fmt::format("{:.0f} MiB", mebibytes) : fmt::format("{:.2f} GiB", mebibytes / 1024);
}

std::string best_text(const TrainingArguments& args, const TrainerState& state) {
  std::string text = fmt::format("{} {:.4g} at step {}", evaluation_name(*args.metric_for_best_model),
                                 *state.best_metric, state.best_global_step);
  if (!state.best_model_checkpoint.empty()) text += ", " + state.best_model_checkpoint;
  return text;
}

std::string scores_text(const Metrics& evaluation) {
  constexpr std::size_t kShown = 5;  // SQuAD 2 and entity types have many more
  std::vector<std::string> scores;
  for (const auto& [name, value] : evaluation)
    if (is_score(name) && scores.size() < kShown) scores.push_back(fmt::format("{} {:.4g}", name, value.as_double()));
  return fmt::format("{}", fmt::join(scores, ", "));
}

}  // namespace

void log_settings(std::span<const Arguments::Resolved> settings, const TrainingArguments& args) {
  if (args.verbose) {
    log_every_setting(settings);
  } else {
    log_changed_settings(settings);
  }
  log_info("Machine");
  log_row("processor", cpu::features().model);
  log_row("instruction set", cpu::name_of(cpu::isa()));
  log_row("threads", std::to_string(cpu::num_threads()));
}

void log_summary(const RunSummary& summary, const TrainingArguments& args, const Trainer& trainer) {
  const int processes = trainer.team().size();
  log_info("Summary");
  log_row(args.do_train ? "model" : "results", args.output_dir);
  if (args.do_train && args.metric_for_best_model && trainer.state().best_metric)
    log_row("best", best_text(args, trainer.state()));
  if (const std::string scores = scores_text(summary.evaluation); !scores.empty()) log_row("evaluation", scores);
  log_row("time", duration_text(summary.seconds));
  if (trainer.tokens_per_second() > 0)
    log_row("training speed", fmt::format("{:.0f} tokens/s", trainer.tokens_per_second()));
  log_row("peak memory", fmt::format("{}, this process{}", bytes_text(cpu::peak_resident_bytes()),
                                     processes > 1 ? fmt::format(" of {}", processes) : ""));
  if (args.do_train) log_row("try it", summary.try_it);
}

void log_interruption(int signal, const TrainingArguments& args, const Trainer& trainer) {
  const std::int64_t step = trainer.state().global_step;
  const std::string checkpoint = (std::filesystem::path(args.output_dir) / io::checkpoint_name(step)).string();
  const bool continues = args.resumes_from_last() || (!args.overwrite_output_dir && !args.resume_from_checkpoint);
  log_warning("stopped by {} after step {} of {}: {} is saved; to resume, {}",
              signal == 0 ? "a signal to another process" : name_of_signal(signal), step, trainer.state().max_steps,
              checkpoint,
              continues ? "run the same command" : fmt::format("give --resume_from_checkpoint {}", checkpoint));
}

}  // namespace hearth::apps
