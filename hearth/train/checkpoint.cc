#include "hearth/train/checkpoint.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "hearth/base/error.h"
#include "hearth/base/log.h"
#include "hearth/io/checkpoint_folders.h"
#include "hearth/io/file.h"
#include "hearth/io/model_weights.h"
#include "hearth/io/replace_folder.h"
#include "hearth/io/safetensors.h"
#include "hearth/kernels/rows/elementwise.h"

namespace hearth {
namespace {

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

// Moments of a frozen parameter belong to a run that trained it.
void check_same_freezing(const io::Safetensors& stored, const ParameterStore& parameters) {
  for (const auto& parameter : parameters.parameters()) {
    if (parameter->trainable) continue;
    const std::string ending = "." + parameter->parts.front().name;
    check(
        std::ranges::none_of(stored.names(), [&](const std::string& name) { return name.ends_with(ending); }),
        "{} has moments of {}, which this run freezes: it was written with another --freeze or --freeze_layers. Resume "
        "it with the same flags, or begin a run from its weights with --model_name_or_path {}",
        stored.path().string(), parameter->parts.front().name, stored.path().parent_path().string());
  }
}

void load_optimizer(parallel::DataParallel& ddp, const ParameterStore& parameters,
                    const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "optimizer.safetensors";
  const io::Safetensors stored = io::Safetensors::open(file);
  check_same_freezing(stored, parameters);
  std::size_t used = 0;
  const auto read = [&](const optim::Optimizer::State& state) {
    used += state.size();
    for (const auto& [name, tensor] : state) {
      check(stored.contains(name), "{} lacks {}: it was written with another --optim or --freeze, or for another model",
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
  ddp.load_state(updates, io::get_int_or(scheduler, "updates_of_moments", updates, name), read);
  if (used < stored.names().size())
    log_warning(
        "{} contains optimizer state that this run's --optim does not use: another optimizer wrote it. That state is "
        "ignored, and training will differ",
        file.string());
}

bool is_exact_in(DType type, const Tensor& values) {
  const Tensor narrow(values.shape(), type), wide(values.shape(), DType::f32);
  kernels::convert(DType::f32, values.raw(), type, narrow.raw(), values.size());
  kernels::convert(type, narrow.raw(), DType::f32, wide.raw(), values.size());
  return std::memcmp(wide.raw(), values.raw(), values.bytes()) == 0;
}

}  // namespace

void save_progress(const TrainingProgress& progress, const optim::Optimizer::State& optimizer,
                   const std::filesystem::path& folder) {
  io::write_safetensors(folder / "optimizer.safetensors", optimizer);
  io::Json scheduler{{"updates", progress.ddp.steps()}, {"updates_of_moments", progress.ddp.moment_steps()}};
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
    load_optimizer(progress.ddp, progress.model.parameters(), folder);
  } else {
    const bool of_torch = std::filesystem::exists(folder / "optimizer.pt");
    log_warning("{} {}: the optimizer's moments start from zero", folder.string(),
                of_torch ? "has its optimizer state in optimizer.pt, which only PyTorch reads"
                         : "has no optimizer state (--save_only_model?)");
    progress.ddp.start_anew(progress.state.global_step);
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
  const io::ModelWeights weights = io::ModelWeights::open(folder);
  std::map<std::string, Tensor> stored;  // by parameter
  for (const NamedParameter& parameter : model.parameters().named()) {
    const std::optional<std::string> name = weights.stored_name(parameter.name);
    check(name.has_value(), "{} lacks {}: it was written for another model", folder.string(), parameter.name);
    const Tensor values = weights.tensor(*name);
    check(values.shape() == parameter.value.shape() && values.type() == DType::f32,
          "{}: {} is {} {}, this model needs {} {}", folder.string(), parameter.name, name_of(values.type()),
          values.shape().to_string(), name_of(DType::f32), parameter.value.shape().to_string());
    check(kernels::all_finite(values.type(), values.size(), values.raw()),
          "{}: {} has weights that are NaN or infinite: resume from an earlier checkpoint", weights.file_of(*name),
          parameter.name);
    // A frozen parameter in 16 bits, but another run has trained it.
    if (const DType type = parameter.parameter->master.type(); type != DType::f32 && !is_exact_in(type, values))
      parameter.parameter->store_as(DType::f32);
    stored[parameter.name] = values;
  }
  for (const NamedParameter& parameter : model.parameters().named()) {
    const Tensor &from = stored.at(parameter.name), &to = parameter.value;
    kernels::convert(DType::f32, from.raw(), to.type(), to.raw(), to.size());
  }
  model.parameters().mark_changed();
}

void rotate_checkpoints(const std::filesystem::path& output_dir, std::int64_t limit,
                        const std::filesystem::path& just_written, const std::filesystem::path& best) {
  std::vector<std::filesystem::path> folders = io::list_checkpoints(output_dir);
  // A higher number does not mean newer: an earlier run may have left it.
  std::ranges::stable_sort(folders, {}, [](const std::filesystem::path& folder) {
    std::error_code error;
    return std::filesystem::last_write_time(folder, error);
  });
  auto excess = static_cast<std::int64_t>(folders.size()) - std::max<std::int64_t>(1, limit);
  for (const std::filesystem::path& folder : folders) {
    if (excess <= 0) return;
    if (folder.filename() == just_written.filename() || folder.filename() == best.filename()) continue;
    io::remove_or_warn(folder);
    --excess;
  }
}

}  // namespace hearth
