#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "hearth/io/json.h"
#include "hearth/optim/loss_scaler.h"
#include "hearth/optim/plateau.h"
#include "hearth/train/trainer_state.h"

namespace hearth {

// What a checkpoint holds beside weights and moments: trainer_state.json, scheduler.json and scaler.json; in the format
// of PyTorch scheduler.pt and scaler.pt.
struct CheckpointState {
  struct Scaler {
    float scale = 1;
    std::int64_t good_steps = 0, skipped = 0;
  };

  TrainerState trainer;
  std::string moments_file;                          // optimizer.safetensors or optimizer.pt; empty: there is none
  std::int64_t updates = 0, updates_of_moments = 0;  // 0 without a file of the schedule
  std::optional<optim::Plateau::State> plateau;
  std::optional<Scaler> scaler;

  // The files as one object, so that one process can read them for all.
  static io::Json read(const std::filesystem::path& folder);
  // Checks every value; an Error names the file and the key.
  static CheckpointState from_json(const io::Json& files, const std::filesystem::path& folder);

  void save(const std::filesystem::path& folder) const;  // as JSON

 private:
  void take_json(const io::Json& files, const std::filesystem::path& folder);
  void take_torch(const io::Json& files, const std::filesystem::path& folder);
};

}  // namespace hearth
