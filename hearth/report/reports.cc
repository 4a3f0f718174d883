#include "hearth/report/reports.h"

#include <exception>
#include <utility>

#include "hearth/base/log.h"
#include "hearth/base/profiler.h"
#include "hearth/report/html_report.h"
#include "hearth/report/json_lines.h"
#include "hearth/report/tensorboard.h"

namespace hearth::report {

Reports::Reports(std::vector<std::unique_ptr<Reporter>> reporters) : reporters_(std::move(reporters)) {}

Reports::~Reports() { end(last_, has_trained_ ? Ending::finished : Ending::failed); }

// A reporter that fails is dropped: a full disk must not cost the run.
template <class Event>
void Reports::tell(const Event& event) {
  const Span span("reports", Span::EvenIfHidden{});
  std::erase_if(reporters_, [&](const std::unique_ptr<Reporter>& reporter) {
    try {
      event(*reporter);
      return false;
    } catch (const std::exception& error) {
      log_warning("a report of this run ends here, training goes on: {}", error.what());
      return true;
    }
  });
}

void Reports::on_train_begin(const TrainingProgress& progress, TrainerControl&) {
  has_begun_ = true;
  last_ = progress;
  tell([&](Reporter& reporter) { reporter.begin(progress); });
}

void Reports::on_step_end(const TrainingProgress& progress, TrainerControl&) {
  last_ = progress;
  tell([&](Reporter& reporter) { reporter.step(progress); });
}

void Reports::on_log(const TrainingProgress& progress, TrainerControl&, const Metrics& row) { add_row(progress, row); }

void Reports::on_train_end(const TrainingProgress& progress, TrainerControl&) {
  has_trained_ = true;
  last_ = progress;
}

void Reports::add_row(const TrainingProgress& progress, const Metrics& row) {
  tell([&](Reporter& reporter) { reporter.row(progress, row); });
}

// The Trainer, which owns StepFacts, may be gone already.
void Reports::end(const TrainingProgress& progress, Ending ending) {
  TrainingProgress at_end = progress;
  at_end.steps = nullptr;
  if (std::exchange(has_begun_, false)) tell([&](Reporter& reporter) { reporter.end(at_end, ending); });
}

std::shared_ptr<Reports> make_reports(const TrainingArguments& args, RunFacts facts) {
  std::vector<std::unique_ptr<Reporter>> reporters;
  if (args.reports_to(Tracker::tensorboard)) reporters.push_back(std::make_unique<TensorBoard>(facts));
  if (args.reports_to(Tracker::jsonl)) reporters.push_back(std::make_unique<JsonLines>(facts));
  if (args.reports_to(Tracker::html)) reporters.push_back(std::make_unique<HtmlReport>(std::move(facts)));
  for (const std::string& name : args.report_to)
    if (!value_named<Tracker>(name))
      log_info("--report_to {} has no effect: html, jsonl and tensorboard are there", name);
  return reporters.empty() ? nullptr : std::make_shared<Reports>(std::move(reporters));
}

}  // namespace hearth::report
