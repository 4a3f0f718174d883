#include "hearth/train/checkpoint.h"

#include <algorithm>
#include <charconv>

#include "hearth/base/error.h"
#include "hearth/base/log.h"
#include "hearth/io/checkpoint.h"
#include "hearth/io/file.h"
#include "hearth/io/safetensors.h"

namespace hearth {
namespace {

constexpr std::string_view kPrefix = "checkpoint-";

constexpr std::string_view kPartial = ".partial", kFormer = ".former";

std::filesystem::path hidden_beside(const std::filesystem::path& folder, std::string_view suffix) {
  return folder.parent_path() / fmt::format(".{}{}", folder.filename().string(), suffix);
}

std::int64_t step_of(const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  std::int64_t step = -1;
  if (!name.starts_with(kPrefix)) return -1;
  const auto [end, error] = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), step);
  return error == std::errc() && end == name.data() + name.size() ? step : -1;
}

void remove_or_warn(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (error) log_warning("{} could not be removed and stays: {}", folder.string(), error.message());
}

io::Json to_json(const optim::Plateau::State& state) {
  return {{"learning_rate", state.lr},
          {"best", state.best},
          {"evaluations_without_gain", state.without_gain},
          {"cooldown_left", state.cooldown_left}};
}

void load_plateau(optim::Plateau& plateau, const std::filesystem::path& folder) {
  const std::string file = (folder / "scheduler.json").string();
  const io::Json scheduler = std::filesystem::exists(file) ? io::read_json(file) : io::Json::object();
  if (!scheduler.contains("plateau")) {
    log_warning("{} has no state of {}: the schedule starts from the beginning", folder.string(), optim::kPlateauName);
    return;
  }
  const io::Json& stored = scheduler["plateau"];
  plateau.restore({io::get_double(stored, "learning_rate", file), io::get_double(stored, "best", file),
                   io::get_int(stored, "evaluations_without_gain", file), io::get_int(stored, "cooldown_left", file)});
}

void load_optimizer(parallel::DataParallel& learner, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "optimizer.safetensors";
  const io::Safetensors stored = io::Safetensors::open(file);
  std::size_t used = 0;
  const auto read = [&](const optim::Optimizer::State& state) {
    used += state.size();
    for (const auto& [name, tensor] : state) {
      check(stored.contains(name), "{} lacks {}: it was written with another --optim or for another model",
            file.string(), name);
      const Tensor value = stored.tensor(name);
      check(value.shape() == tensor.shape() && value.type() == tensor.type(), "{}: {} is {}, this model needs {}",
            file.string(), name, value.shape().to_string(), tensor.shape().to_string());
      tensor.copy_from(value);
    }
  };
  const std::string name = (folder / "scheduler.json").string();
  const io::Json scheduler = io::read_json(name);
  const std::int64_t updates = io::get_int(scheduler, "updates", name);
  learner.load_state(updates, io::get_int_or(scheduler, "updates_of_moments", updates, name), read);
  if (used < stored.names().size())
    log_warning(
        "{} contains optimizer state that this run's --optim does not use: another optimizer wrote it. That state is "
        "ignored, and training will differ",
        file.string());
}

}  // namespace

void write_folder(const std::filesystem::path& folder, const std::function<void(const std::filesystem::path&)>& write) {
  const std::filesystem::path partial = hidden_beside(folder, kPartial), former = hidden_beside(folder, kFormer);
  bool former_is_aside = false;
  const auto undo = [&] {
    std::error_code ignored;
    std::filesystem::remove_all(partial, ignored);
    if (former_is_aside) std::filesystem::rename(former, folder, ignored);
  };
  try {
    std::filesystem::remove_all(partial);
    io::create_directories(partial);
    write(partial);
    if (std::filesystem::exists(folder)) {
      std::filesystem::remove_all(former);
      std::filesystem::rename(folder, former);
      former_is_aside = true;
    }
    std::filesystem::rename(partial, folder);
  } catch (const std::filesystem::filesystem_error& error) {
    undo();
    fail("{} could not be written: {}", folder.string(), error.code().message());
  } catch (...) {
    undo();
    throw;
  }
  if (former_is_aside) remove_or_warn(former);
}

void tidy_folders(const std::filesystem::path& parent) {
  if (!std::filesystem::is_directory(parent)) return;
  const std::vector<std::filesystem::directory_entry> entries(std::filesystem::directory_iterator(parent),
                                                              std::filesystem::directory_iterator{});
  for (const auto& entry : entries) {
    const std::string name = entry.path().stem().string(), suffix = entry.path().extension().string();
    if (!name.starts_with('.') || step_of(name.substr(1)) < 0 || !entry.is_directory()) continue;
    const std::filesystem::path folder = parent / name.substr(1);
    if (suffix == kFormer && !std::filesystem::exists(folder)) {
      std::error_code error;
      std::filesystem::rename(entry.path(), folder, error);
      check(!error, "{} could not be put back as {}: {}", entry.path().string(), folder.string(), error.message());
      log_info("{} was restored: a run had died while replacing it", folder.string());
    } else if (suffix == kFormer || suffix == kPartial) {
      remove_or_warn(entry.path());
    }
  }
}

void save_progress(const TrainingProgress& progress, const optim::Optimizer::State& optimizer,
                   const std::filesystem::path& folder) {
  io::write_safetensors(folder / "optimizer.safetensors", optimizer);
  io::Json scheduler{{"updates", progress.learner.steps()}, {"updates_of_moments", progress.learner.moment_steps()}};
  if (progress.plateau != nullptr) scheduler["plateau"] = to_json(progress.plateau->state());
  io::replace_file(folder / "scheduler.json", io::dump_json(scheduler, 2) + "\n");
  if (progress.scaler.enabled())
    io::replace_file(folder / "scaler.json", io::dump_json({{"scale", progress.scaler.scale()},
                                                            {"good_steps", progress.scaler.good_steps()},
                                                            {"skipped", progress.scaler.skipped()}},
                                                           2) +
                                                 "\n");
  progress.state.save(folder);
}

void load_progress(const TrainingProgress& progress, const std::filesystem::path& folder) {
  check(std::filesystem::is_directory(folder), "there is no checkpoint folder {}", folder.string());
  load_model_weights(progress.model, folder);
  progress.state = TrainerState::load(folder);
  if (std::filesystem::exists(folder / "optimizer.safetensors")) {
    load_optimizer(progress.learner, folder);
  } else {
    const bool of_torch = std::filesystem::exists(folder / "optimizer.pt");
    log_warning("{} {}: the optimizer's moments start from zero", folder.string(),
                of_torch ? "has its optimizer state in optimizer.pt, which only PyTorch reads"
                         : "has no optimizer state (--save_only_model?)");
    progress.learner.start_anew(progress.state.global_step);
  }
  if (progress.plateau != nullptr) load_plateau(*progress.plateau, folder);
  const std::filesystem::path scaler = folder / "scaler.json";
  if (progress.scaler.enabled() && std::filesystem::exists(scaler)) {
    const io::Json json = io::read_json(scaler);
    progress.scaler.restore(static_cast<float>(io::get_double(json, "scale", scaler.string())),
                            io::get_int(json, "good_steps", scaler.string()),
                            io::get_int(json, "skipped", scaler.string()));
  }
}

void load_model_weights(nn::Model& model, const std::filesystem::path& folder) {
  const io::Checkpoint weights = io::Checkpoint::open(folder);
  for (const auto& parameter : model.parameters().parameters())
    for (const Parameter::Part& part : parameter->parts) {
      check(weights.contains(part.name), "{} lacks {}: it was written for another model", folder.string(), part.name);
      const Tensor value = weights.tensor(part.name), master = parameter->master_part(part);
      check(value.shape() == master.shape() && value.type() == master.type(), "{}: {} is {} {}, this model needs {} {}",
            folder.string(), part.name, name_of(value.type()), value.shape().to_string(), name_of(master.type()),
            master.shape().to_string());
      master.copy_from(value);
    }
  model.parameters().mark_changed();
}

std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& output_dir) {
  std::vector<std::filesystem::path> folders;
  if (!std::filesystem::is_directory(output_dir)) return folders;
  for (const auto& entry : std::filesystem::directory_iterator(output_dir))
    if (entry.is_directory() && step_of(entry.path()) >= 0) folders.push_back(entry.path());
  std::ranges::sort(folders, {}, step_of);
  return folders;
}

std::optional<std::filesystem::path> last_checkpoint(const std::filesystem::path& output_dir) {
  const std::vector<std::filesystem::path> folders = list_checkpoints(output_dir);
  return folders.empty() ? std::nullopt : std::optional(folders.back());
}

void rotate_checkpoints(const std::filesystem::path& output_dir, std::int64_t limit,
                        const std::filesystem::path& just_written, const std::filesystem::path& best) {
  std::vector<std::filesystem::path> folders = list_checkpoints(output_dir);
  // A higher number does not mean newer: an earlier run may have left it.
  std::ranges::stable_sort(folders, {}, [](const std::filesystem::path& folder) {
    std::error_code error;
    return std::filesystem::last_write_time(folder, error);
  });
  auto excess = static_cast<std::int64_t>(folders.size()) - std::max<std::int64_t>(1, limit);
  for (const std::filesystem::path& folder : folders) {
    if (excess <= 0) return;
    if (folder.filename() == just_written.filename() || folder.filename() == best.filename()) continue;
    remove_or_warn(folder);
    --excess;
  }
}

}  // namespace hearth
