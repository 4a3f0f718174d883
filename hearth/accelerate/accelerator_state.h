#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hearth/data/data_loader.h"
#include "hearth/nn/model.h"
#include "hearth/optim/loss_scaler.h"
#include "hearth/parallel/distributed_data_parallel.h"

namespace hearth {

// What an Accelerator and all that it prepared share.
struct AcceleratorState {
  parallel::Team team;
  DType compute = DType::f32;
  std::int64_t accumulation_steps = 1;
  std::uint64_t seed = 42;

  optim::LossScaler scaler{false};
  std::uint64_t passes = 0;        // forward passes so far; each has dropout of its own
  std::int64_t micro_batches = 0;  // since the last update
  bool sync_gradients = true;
  bool step_was_skipped = false;
  std::shared_ptr<LoaderPosition> position = std::make_shared<LoaderPosition>();  // of all prepared loaders
  std::vector<std::shared_ptr<ModelState>> models;
};

struct ModelState {
  ModelState(std::shared_ptr<nn::Model> prepared, AcceleratorState& state)
      : model(std::move(prepared)), accelerator(&state), ddp(model->parameters(), state.team) {}

  std::shared_ptr<nn::Model> model;
  AcceleratorState* accelerator;  // owns this
  parallel::DistributedDataParallel ddp;
  bool training = true;
  std::unique_ptr<Tape> tape;  // of the last pass in training mode
  ops::Context context;
};

}  // namespace hearth
