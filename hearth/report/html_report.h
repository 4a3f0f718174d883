#pragma once

#include "hearth/base/timer.h"
#include "hearth/report/reporter.h"
#include "hearth/report/run_record.h"

namespace hearth::report {

inline constexpr const char* kPageFile = "report.html";

// One page about the run in output_dir/report.html and its numbers in report.json, both renewed while it trains: at
// most every two seconds, and so rarely that all writing takes less than a thousandth of the time since it began. A
// resumed run continues the curves of the report that it finds.
class HtmlReport final : public Reporter {
 public:
  explicit HtmlReport(RunFacts facts) : facts_(std::move(facts)) {}

  void begin(const TrainingProgress& progress) override;
  void step(const TrainingProgress& progress) override;
  void row(const TrainingProgress& progress, const Metrics& row) override;
  void end(const TrainingProgress& progress, Ending ending) override;

 private:
  void continue_record(const TrainingProgress& progress);
  void note(const TrainingProgress& progress);
  void note_steps(const StepFacts& steps);
  bool may_write() const;
  void write();

  const RunFacts facts_;
  RunRecord record_;
  double seconds_before_ = 0;  // of training, before it was resumed
  std::int64_t first_step_ = 0;
  Timer since_begin_, since_write_;
  double last_write_ = 0, all_writes_ = 0;  // seconds
};

}  // namespace hearth::report
