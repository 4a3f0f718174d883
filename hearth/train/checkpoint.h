#pragma once

#include <filesystem>
#include <optional>

#include "hearth/nn/model.h"
#include "hearth/optim/loss_scaler.h"
#include "hearth/optim/plateau.h"
#include "hearth/parallel/sharded_optimizer.h"
#include "hearth/train/trainer_state.h"

namespace hearth {

// A checkpoint folder holds the model and optimizer.safetensors (moments), scheduler.json (updates done, state of
// reduce_lr_on_plateau), scaler.json (with fp16), trainer_state.json and checksums.json (size and checksum of each
// file). There is no RNG state to store: random numbers are functions of seed and step. In the format of PyTorch the
// state files are those of the Trainer: optimizer.pt, scheduler.pt, scaler.pt and rng_state.pth.
struct SavedProgress {
  nn::Model& model;
  parallel::ShardedOptimizer& optimizer;
  optim::LossScaler& scaler;
  TrainerState& state;
  optim::Plateau* plateau = nullptr;  // with reduce_lr_on_plateau
};

// What the Trainer's files say beyond a run's progress.
struct TorchFormat {
  optim::OptimizerOptions optimizer;
  double initial_lr = 0, lr = 0;  // of the first update, and of the next one
  std::int64_t seed = 0;
  bool as_version_5 = false;  // see torch_groups()
};

// `moments` is the optimizer's state, which all processes gather together before one of them writes it.
void save_progress(const SavedProgress& progress, const optim::Optimizer::State& moments,
                   const std::filesystem::path& folder, const std::optional<TorchFormat>& torch = {});
// Every process of the optimizer's team calls it; the first one reads the folder and sends what it has read to the
// others.
void load_progress(const SavedProgress& progress, const std::filesystem::path& folder);
// Throws an Error that names the file if one is missing, cut, damaged or holds an impossible value.
void check_checkpoint(const std::filesystem::path& folder);

// Removes the checkpoints written longest ago until `limit` are left, but never the one just written or the best one.
void rotate_checkpoints(const std::filesystem::path& output_dir, std::int64_t limit,
                        const std::filesystem::path& just_written, const std::filesystem::path& best);

}  // namespace hearth
