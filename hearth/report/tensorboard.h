#pragma once

#include <optional>
#include <string>

#include "hearth/report/event_file.h"
#include "hearth/report/reporter.h"

namespace hearth::report {

// Event files as transformers' TensorBoardCallback writes them: scalars of every log row, the settings and config.json
// as texts; with RunFacts::histograms also the distributions of weights and gradients.
class TensorBoard final : public Reporter {
 public:
  explicit TensorBoard(RunFacts facts) : facts_(std::move(facts)) {}

  void begin(const TrainingProgress& progress) override;
  void row(const TrainingProgress& progress, const Metrics& row) override;

 private:
  void add_histograms(const TrainingProgress& progress);

  const RunFacts facts_;
  std::optional<EventFile> file_;
};

// "eval_loss" is eval/loss, "test_loss" test/loss, every other name train/NAME.
std::string tensorboard_tag(std::string_view metric);
// "Nov17_19-30-00_host", the name of a folder below runs/ as transformers chooses it.
std::string tensorboard_folder_name();

}  // namespace hearth::report
