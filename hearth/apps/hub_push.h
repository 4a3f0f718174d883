#pragma once

#include <filesystem>
#include <future>
#include <string>

#include "hearth/hub/upload.h"
#include "hearth/tasks/common/hub_arguments.h"
#include "hearth/train/callbacks.h"

namespace hearth::apps {

// Uploads what a run writes into its output folder, as --push_to_hub asks: checkpoints in the background while training
// goes on, the model at the end. All in the first process.
class HubPush final : public TrainerCallback {
 public:
  // Creates the repository: that a token is missing or must not write is found before training. `token` counts where
  // --hub_token is not given.
  HubPush(const tasks::HubArguments& args, const std::string& token, std::filesystem::path output_dir, bool is_first);
  ~HubPush() override;  // waits for an upload that runs

  void on_save(const TrainingProgress& progress, TrainerControl&, const std::filesystem::path& checkpoint) override;
  // The whole output folder, without its checkpoints.
  void push_results();

 private:
  void push_checkpoint(const std::filesystem::path& checkpoint, std::int64_t step) const;
  void wait();

  const tasks::HubArguments& args_;
  const std::filesystem::path output_dir_;
  const bool is_first_;
  hub::Access access_;
  hub::Repository repository_;
  std::future<void> running_;
};

}  // namespace hearth::apps
