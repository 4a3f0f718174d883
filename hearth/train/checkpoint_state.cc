#include "hearth/train/checkpoint_state.h"

#include <limits>

#include "hearth/base/error.h"
#include "hearth/io/file.h"

namespace hearth {
namespace {

constexpr const char *kTrainer = "trainer_state.json", *kScheduler = "scheduler.json", *kScaler = "scaler.json",
                     *kMoments = "optimizer.safetensors";
constexpr std::int64_t kMostSteps = 1'000'000'000'000'000;
constexpr double kInfinity = std::numeric_limits<double>::infinity(), kLargest = std::numeric_limits<float>::max();

optim::Plateau::State plateau_of(const io::Json& json, const std::string& file) {
  return {io::get_double_within(json, "learning_rate", 0, kLargest, file),
          io::get_double_within(json, "best", -kInfinity, kInfinity, file),
          io::get_int_within(json, "evaluations_without_gain", 0, kMostSteps, file),
          io::get_int_within(json, "cooldown_left", 0, kMostSteps, file)};
}

CheckpointState::Scaler scaler_of(const io::Json& json, const std::string& file) {
  return {static_cast<float>(io::get_double_within(json, "scale", 0, kLargest, file)),
          io::get_int_within(json, "good_steps", 0, kMostSteps, file),
          io::get_int_within(json, "skipped", 0, kMostSteps, file)};
}

void write(const std::filesystem::path& file, const io::Json& json) {
  io::replace_file(file, io::dump_json(json, 2) + "\n");
}

}  // namespace

io::Json CheckpointState::read(const std::filesystem::path& folder) {
  const bool has_moments = std::filesystem::exists(folder / kMoments);
  io::Json files{{kTrainer, io::read_json(folder / kTrainer)}, {kMoments, has_moments}};
  if (has_moments || std::filesystem::exists(folder / kScheduler))
    files[kScheduler] = io::read_json(folder / kScheduler);
  if (std::filesystem::exists(folder / kScaler)) files[kScaler] = io::read_json(folder / kScaler);
  return files;
}

CheckpointState CheckpointState::from_json(const io::Json& files, const std::filesystem::path& folder) {
  CheckpointState state;
  state.trainer = TrainerState::from_json(files.at(kTrainer), (folder / kTrainer).string());
  state.has_moments = files.at(kMoments).get<bool>();
  if (const auto scheduler = files.find(kScheduler); scheduler != files.end()) {
    const std::string file = (folder / kScheduler).string();
    state.updates = io::get_int_within(*scheduler, "updates", 0, state.trainer.global_step, file);
    state.updates_of_moments = scheduler->contains("updates_of_moments")
                                   ? io::get_int_within(*scheduler, "updates_of_moments", 0, state.updates, file)
                                   : state.updates;
    if (scheduler->contains("plateau")) state.plateau = plateau_of((*scheduler)["plateau"], file);
  }
  if (const auto scaler = files.find(kScaler); scaler != files.end())
    state.scaler = scaler_of(*scaler, (folder / kScaler).string());
  return state;
}

void CheckpointState::save(const std::filesystem::path& folder) const {
  trainer.save(folder);
  io::Json scheduler{{"updates", updates}, {"updates_of_moments", updates_of_moments}};
  if (plateau)
    scheduler["plateau"] = {{"learning_rate", plateau->lr},
                            {"best", plateau->best},
                            {"evaluations_without_gain", plateau->without_gain},
                            {"cooldown_left", plateau->cooldown_left}};
  write(folder / kScheduler, scheduler);
  if (scaler)
    write(folder / kScaler,
          {{"scale", scaler->scale}, {"good_steps", scaler->good_steps}, {"skipped", scaler->skipped}});
}

}  // namespace hearth
