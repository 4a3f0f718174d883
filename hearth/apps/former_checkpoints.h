#pragma once

#include <filesystem>
#include <vector>

#include "hearth/train/callbacks.h"

namespace hearth::apps {

// Removes the checkpoints of former runs (--overwrite_output_dir) once training has made its first step: a run that
// fails before, such as for a setting that does not fit the data, loses nothing.
class FormerCheckpoints final : public TrainerCallback {
 public:
  explicit FormerCheckpoints(std::vector<std::filesystem::path> folders) : folders_(std::move(folders)) {}

  bool makes_requests() const override { return false; }
  void on_step_end(const TrainingProgress&, TrainerControl&) override { remove(); }
  // Before the first step a resumed run may save the checkpoint that it owes.
  void on_save(const TrainingProgress&, TrainerControl&, const std::filesystem::path& checkpoint) override;
  void on_train_end(const TrainingProgress&, TrainerControl&) override { remove(); }

 private:
  void remove();

  std::vector<std::filesystem::path> folders_;
};

}  // namespace hearth::apps
