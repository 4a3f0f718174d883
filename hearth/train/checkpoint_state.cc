#include "hearth/train/checkpoint_state.h"

#include <limits>

#include "hearth/base/check.h"
#include "hearth/io/file.h"
#include "hearth/io/torch_file.h"
#include "hearth/train/torch_optimizer.h"

namespace hearth {
namespace {

constexpr const char *kTrainer = "trainer_state.json", *kScheduler = "scheduler.json", *kScaler = "scaler.json",
                     *kMoments = "optimizer.safetensors", *kMomentsFile = "moments", *kMomentSteps = "moment steps";
constexpr const char *kTorchMoments = "optimizer.pt", *kTorchScheduler = "scheduler.pt", *kTorchScaler = "scaler.pt";
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

optim::Plateau::State plateau_of_torch(const io::Json& json, const std::string& file) {
  const auto rates = json.find("_last_lr");
  check(rates != json.end() && rates->is_array() && !rates->empty(), "{}: \"_last_lr\" must be a list of numbers",
        file);
  return {io::get_double_within({{"_last_lr", rates->front()}}, "_last_lr", 0, kLargest, file),
          io::get_double_within(json, "best", -kInfinity, kInfinity, file),
          io::get_int_within(json, "num_bad_epochs", 0, kMostSteps, file),
          io::get_int_within(json, "cooldown_counter", 0, kMostSteps, file)};
}

CheckpointState::Scaler scaler_of_torch(const io::Json& json, const std::string& file) {
  return {static_cast<float>(io::get_double_within(json, "scale", 0, kLargest, file)),
          io::get_int_within(json, "_growth_tracker", 0, kMostSteps, file),
          json.contains("skipped") ? io::get_int_within(json, "skipped", 0, kMostSteps, file) : 0};
}

io::Json read_torch_files(const std::filesystem::path& folder) {
  io::Json files{{kMomentsFile, kTorchMoments}, {kTorchScheduler, io::read_torch_as_json(folder / kTorchScheduler)}};
  if (const auto steps = torch_optimizer_steps(folder / kTorchMoments)) files[kMomentSteps] = *steps;
  if (std::filesystem::exists(folder / kTorchScaler))
    files[kTorchScaler] = io::read_torch_as_json(folder / kTorchScaler);
  return files;
}

void write(const std::filesystem::path& file, const io::Json& json) {
  io::replace_file(file, io::dump_json(json, 2) + "\n");
}

}  // namespace

io::Json CheckpointState::read(const std::filesystem::path& folder) {
  const bool has_moments = std::filesystem::exists(folder / kMoments);
  io::Json files = io::Json::object();
  if (!has_moments && std::filesystem::exists(folder / kTorchMoments)) files = read_torch_files(folder);
  files[kTrainer] = io::read_json(folder / kTrainer);
  if (has_moments) files[kMomentsFile] = kMoments;
  if (has_moments || std::filesystem::exists(folder / kScheduler))
    files[kScheduler] = io::read_json(folder / kScheduler);
  if (std::filesystem::exists(folder / kScaler)) files[kScaler] = io::read_json(folder / kScaler);
  return files;
}

void CheckpointState::take_json(const io::Json& files, const std::filesystem::path& folder) {
  if (const auto scheduler = files.find(kScheduler); scheduler != files.end()) {
    const std::string file = (folder / kScheduler).string();
    updates = io::get_int_within(*scheduler, "updates", 0, trainer.global_step, file);
    updates_of_moments = scheduler->contains("updates_of_moments")
                             ? io::get_int_within(*scheduler, "updates_of_moments", 0, updates, file)
                             : updates;
    if (scheduler->contains("plateau")) plateau = plateau_of((*scheduler)["plateau"], file);
  }
  if (const auto found = files.find(kScaler); found != files.end())
    scaler = scaler_of(*found, (folder / kScaler).string());
}

void CheckpointState::take_torch(const io::Json& files, const std::filesystem::path& folder) {
  const io::Json& scheduler = files.at(kTorchScheduler);
  const std::string file = (folder / kTorchScheduler).string();
  if (scheduler.contains("num_bad_epochs")) {
    plateau = plateau_of_torch(scheduler, file);
    updates = trainer.global_step;
  } else {
    updates = io::get_int_within(scheduler, "last_epoch", 0, trainer.global_step, file);
  }
  updates_of_moments = files.contains(kMomentSteps)
                           ? io::get_int_within(files, kMomentSteps, 0, updates, (folder / kTorchMoments).string())
                           : updates;
  if (const auto found = files.find(kTorchScaler); found != files.end() && found->contains("scale"))
    scaler = scaler_of_torch(*found, (folder / kTorchScaler).string());
}

CheckpointState CheckpointState::from_json(const io::Json& files, const std::filesystem::path& folder) {
  CheckpointState state;
  state.trainer = TrainerState::from_json(files.at(kTrainer), (folder / kTrainer).string());
  if (files.contains(kMomentsFile)) state.moments_file = files[kMomentsFile].get<std::string>();
  if (state.moments_file == kTorchMoments) {
    state.take_torch(files, folder);
  } else {
    state.take_json(files, folder);
  }
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
