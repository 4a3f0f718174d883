#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hearth/nn/model.h"
#include "hearth/optim/loss_scaler.h"
#include "hearth/optim/plateau.h"
#include "hearth/parallel/data_parallel.h"
#include "hearth/train/trainer_state.h"

namespace hearth {

// What a checkpoint folder holds beside the model itself: optimizer.safetensors (moments), scheduler.json (updates
// done, the plateau), scaler.json (with fp16) and trainer_state.json. Random numbers are functions of seed and step:
// nothing of them is stored.
struct TrainingProgress {
  nn::Model& model;
  parallel::DataParallel& learner;
  optim::LossScaler& scaler;
  TrainerState& state;
  optim::Plateau* plateau = nullptr;  // where the schedule is one
};

// Fills a folder that only appears under its name when `write` has returned: a failure leaves what was there.
void write_folder(const std::filesystem::path& folder, const std::function<void(const std::filesystem::path&)>& write);

// What a run that died within write_folder has left in the folder's parent: former checkpoints are put back where no
// new one took their place, the rest is removed.
void tidy_folders(const std::filesystem::path& parent);

// `optimizer` is the learner's state, which takes all processes to gather; one of them writes it.
void save_progress(const TrainingProgress& progress, const optim::Optimizer::State& optimizer,
                   const std::filesystem::path& folder);
void load_progress(const TrainingProgress& progress, const std::filesystem::path& folder);
// The weights alone, into a model of the same parameters.
void load_model_weights(nn::Model& model, const std::filesystem::path& folder);

// checkpoint-N folders, by N.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& output_dir);
std::optional<std::filesystem::path> last_checkpoint(const std::filesystem::path& output_dir);
// Removes those written longest ago until `limit` are left, but never the one just written, nor the best. What cannot
// be removed is warned of and stays.
void rotate_checkpoints(const std::filesystem::path& output_dir, std::int64_t limit,
                        const std::filesystem::path& just_written, const std::filesystem::path& best);

}  // namespace hearth
