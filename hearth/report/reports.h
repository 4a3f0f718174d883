#pragma once

#include <memory>
#include <vector>

#include "hearth/report/reporter.h"
#include "hearth/train/training_arguments.h"

namespace hearth::report {

// The records that --report_to asks for, as one callback of the Trainer. A record that cannot be written gives a
// warning and ends; training goes on.
class Reports final : public TrainerCallback {
 public:
  explicit Reports(std::vector<std::unique_ptr<Reporter>> reporters);
  ~Reports() override;  // a run that did not end before has failed, unless it trained to its end

  bool makes_requests() const override { return false; }
  void on_train_begin(const TrainingProgress& progress, TrainerControl&) override;
  void on_step_end(const TrainingProgress& progress, TrainerControl&) override;
  void on_log(const TrainingProgress& progress, TrainerControl&, const Metrics& row) override;
  void on_train_end(const TrainingProgress& progress, TrainerControl&) override;

  void add_row(const TrainingProgress& progress, const Metrics& row);  // after training: of the final evaluation
  void end(const TrainingProgress& progress, Ending ending);           // once

 private:
  template <class Event>
  void tell(const Event& event);

  std::vector<std::unique_ptr<Reporter>> reporters_;
  TrainingProgress last_;
  bool has_begun_ = false, has_trained_ = false;
};

// Null if there is nothing to write. Names of trackers that Hearth does not have give a line in the log.
std::shared_ptr<Reports> make_reports(const TrainingArguments& args, RunFacts facts);

}  // namespace hearth::report
