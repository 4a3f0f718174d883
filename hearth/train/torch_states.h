#pragma once

#include <cstdint>
#include <filesystem>

#include "hearth/train/checkpoint_state.h"

// scheduler.pt, scaler.pt and rng_state.pth: states without moments, as the Trainer saves them.
namespace hearth {

struct TorchScheduler {
  double initial_lr = 0, lr = 0;  // of the first update, and of the next one
  std::int64_t updates = 0;
  const optim::Plateau* plateau = nullptr;  // with reduce_lr_on_plateau
};
// `groups`: the optimizer's groups of parameters, each of which has a learning rate.
void write_torch_scheduler(const std::filesystem::path& file, const TorchScheduler& scheduler, std::size_t groups);

void write_torch_scaler(const std::filesystem::path& file, const CheckpointState::Scaler& scaler);

// The states of Python's, NumPy's and PyTorch's generators, all seeded with `seed`. The Trainer sets them when it
// resumes; Hearth has no generator that runs on.
void write_torch_random_states(const std::filesystem::path& file, std::uint32_t seed);

}  // namespace hearth
