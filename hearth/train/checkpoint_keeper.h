#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

#include "hearth/train/trainer_state.h"

namespace hearth {

// The checkpoints of one run: writes them, removes the oldest beyond --save_total_limit, and takes none for its own
// that an earlier run left in the same folder.
class CheckpointKeeper {
 public:
  CheckpointKeeper() = default;
  CheckpointKeeper(std::filesystem::path output_dir, std::optional<std::int64_t> limit);

  void add_resumed(std::int64_t step, const std::filesystem::path& folder);
  // Fills checkpoint-<global_step> by `write`, once the state names the best checkpoint there is.
  void save(TrainerState& state, const std::function<void(const std::filesystem::path&)>& write);

 private:
  std::filesystem::path output_dir_;
  std::optional<std::int64_t> limit_;
  std::map<std::int64_t, std::filesystem::path> own_;  // by step
};

}  // namespace hearth
