#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>

#include "hearth/train/trainer_state.h"

namespace hearth {

// The checkpoints of one run: writes them and removes the oldest beyond --save_total_limit. A checkpoint that an
// earlier run left in the same folder is not taken for the best of this one, unless the run resumes from beside it.
class CheckpointKeeper {
 public:
  CheckpointKeeper() = default;
  CheckpointKeeper(std::filesystem::path output_dir, std::optional<std::int64_t> limit);

  // Continues the run of this checkpoint. Where its folder was renamed or moved, or the working directory is another
  // one, the state names its best checkpoint by the path of today. None of `former`, the checkpoints that the run
  // overwrites, is taken for it.
  void resume(TrainerState& state, const std::filesystem::path& checkpoint,
              std::span<const std::filesystem::path> former = {});
  // Fills checkpoint-<global_step> by `write`, after the state was told the best checkpoint saved so far.
  void save(TrainerState& state, const std::function<void(const std::filesystem::path&)>& write);
  // Another rank fills checkpoint-<step>.
  void note(std::int64_t step);
  // The last checkpoint that this run has written or resumed from, and that still exists; empty: there is none.
  std::filesystem::path last() const;

 private:
  std::filesystem::path output_dir_;
  std::optional<std::int64_t> limit_;
  std::map<std::int64_t, std::filesystem::path> own_;  // by step
};

}  // namespace hearth
