#include "hearth/train/checkpoint.h"

#include <algorithm>
#include <map>
#include <set>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/io/checkpoint_folders.h"
#include "hearth/io/folder_checksums.h"
#include "hearth/io/model_weights.h"
#include "hearth/io/replace_folder.h"
#include "hearth/io/safetensors.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/parallel/broadcast_weights.h"
#include "hearth/train/checkpoint_state.h"
#include "hearth/train/torch_optimizer.h"
#include "hearth/train/torch_states.h"

namespace hearth {
namespace {

// The optimizer state of a checkpoint, in the format of either file.
struct StoredState {
  std::filesystem::path file;
  std::map<std::string, Tensor, std::less<>> arrays;  // named as in Optimizer::State
  std::set<std::string, std::less<>> without;         // parameters that have none, as no backward pass has reached them
};

// Moments of a frozen parameter belong to a run that trained it.
void check_same_freezing(const StoredState& stored, const ParameterStore& parameters) {
  for (const auto& parameter : parameters.parameters()) {
    if (parameter->trainable) continue;
    const std::string ending = "." + parameter->parts.front().name;
    check(
        std::ranges::none_of(stored.arrays, [&](const auto& array) { return array.first.ends_with(ending); }),
        "{} has moments of {}, which this run freezes: it was written with another --freeze or --freeze_layers. Resume "
        "it with the same flags, or begin a run from its weights with --model_name_or_path {}",
        stored.file.string(), parameter->parts.front().name, stored.file.parent_path().string());
  }
}

StoredState read_state(const std::filesystem::path& file, const ParameterStore& parameters) {
  StoredState stored{file, {}, {}};
  if (file.extension() == ".pt") {
    TorchOptimizer optimizer = read_torch_optimizer(file, parameters);
    stored.arrays = std::move(optimizer.moments);
    stored.without = std::move(optimizer.without_moments);
  } else {
    const io::Safetensors arrays = io::Safetensors::open(file);
    for (const std::string& name : arrays.names()) stored.arrays.emplace(name, arrays.tensor(name));
  }
  check_same_freezing(stored, parameters);
  return stored;
}

// On the first rank: copies the moments of the file into the given arrays.
class StoredMoments {
 public:
  StoredMoments(const std::filesystem::path& file, const ParameterStore& parameters)
      : stored_(read_state(file, parameters)) {}

  void read(const optim::Optimizer::State& state) {
    for (const auto& [name, tensor] : state) {
      if (stored_.without.contains(name.substr(name.find('.') + 1))) continue;
      copy(name, tensor);
      ++used_;
    }
  }

  void warn_of_unused() const {
    if (used_ < stored_.arrays.size())
      log_warning(
          "{} contains optimizer state that this run's --optim does not use: another optimizer wrote it. That state is "
          "ignored, and training will differ",
          stored_.file.string());
  }

 private:
  void copy(const std::string& name, const Tensor& to) const {
    const std::string file = stored_.file.string();
    const auto found = stored_.arrays.find(name);
    check(found != stored_.arrays.end(),
          "{} lacks {}: it was written with another --optim or --freeze, or for another model", file, name);
    const Tensor& value = found->second;
    check(value.shape() == to.shape(), "{}: {} is {}, this model needs {}", file, name, value.shape().to_string(),
          to.shape().to_string());
    check(value.type() == DType::f32 || value.type() == DType::bf16, "{}: {} is in {}, but moments are fp32 or bf16",
          file, name, name_of(value.type()));
    // Exact, except that --optim adamw_16bit rounds the f32 moments of another AdamW.
    kernels::convert(value.type(), value.raw(), to.type(), to.raw(), to.size());
  }

  StoredState stored_;
  std::size_t used_ = 0;
};

void load_moments(const SavedProgress& progress, const CheckpointState& state, const std::filesystem::path& folder) {
  std::optional<StoredMoments> stored;  // on the first rank alone
  if (progress.optimizer.team().is_first()) stored.emplace(folder / state.moments_file, progress.model.parameters());
  progress.optimizer.load_state(state.updates, state.updates_of_moments,
                                [&](const optim::Optimizer::State& arrays) { stored->read(arrays); });
  if (stored) stored->warn_of_unused();
}

void start_moments_anew(const SavedProgress& progress, const std::filesystem::path& folder) {
  progress.optimizer.start_anew(progress.state.global_step);
  if (progress.optimizer.team().is_first())
    log_warning("{} has no optimizer state (--save_only_model?): the optimizer's moments start from zero",
                folder.string());
}

// That config.json names; it is written before the state. Empty if there is none.
std::string architecture_in(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "config.json";
  if (!std::filesystem::exists(file)) return "";
  const io::Json config = io::read_json(file);
  const io::Json architectures = config.value("architectures", io::Json::array());
  return !architectures.empty() && architectures.front().is_string() ? architectures.front().get<std::string>() : "";
}

void save_as_torch(const SavedProgress& progress, const CheckpointState& state, const optim::Optimizer::State& moments,
                   const std::filesystem::path& folder, const TorchFormat& format) {
  state.trainer.save(folder);
  const TorchOrder order = format.as_version_5 ? order_of_version_5(architecture_in(folder)) : TorchOrder::version_4;
  const TorchGroups groups = torch_groups(progress.model.parameters(), order);
  write_torch_optimizer(folder / "optimizer.pt", groups, moments,
                        {format.optimizer, format.initial_lr, format.lr, state.updates_of_moments});
  write_torch_scheduler(folder / "scheduler.pt", {format.initial_lr, format.lr, state.updates, progress.plateau},
                        groups.size());
  if (state.scaler) write_torch_scaler(folder / "scaler.pt", *state.scaler);
  const int ranks = progress.optimizer.team().size();
  for (int rank = 0; rank < ranks; ++rank)
    write_torch_random_states(folder / (ranks == 1 ? "rng_state.pth" : fmt::format("rng_state_{}.pth", rank)),
                              static_cast<std::uint32_t>(format.seed + state.trainer.global_step * ranks + rank));
}

}  // namespace

void save_progress(const SavedProgress& progress, const optim::Optimizer::State& moments,
                   const std::filesystem::path& folder, const std::optional<TorchFormat>& torch) {
  CheckpointState state;
  state.trainer = progress.state;
  state.updates = progress.optimizer.steps();
  state.updates_of_moments = progress.optimizer.moment_steps();
  if (progress.plateau != nullptr) state.plateau = progress.plateau->state();
  const optim::LossScaler& scaler = progress.scaler;
  if (scaler.enabled()) state.scaler = {scaler.scale(), scaler.good_steps(), scaler.skipped()};
  if (torch) return save_as_torch(progress, state, moments, folder, *torch);
  io::write_safetensors(folder / "optimizer.safetensors", moments);
  state.save(folder);
}

void check_checkpoint(const std::filesystem::path& folder) {
  check(std::filesystem::is_directory(folder), "there is no checkpoint folder {}", folder.string());
  io::verify_checksums(folder);
  const CheckpointState state = CheckpointState::from_json(CheckpointState::read(folder), folder);
  io::ModelWeights::open(folder);
  if (state.moments_file.ends_with(".safetensors")) io::Safetensors::open(folder / state.moments_file);
  if (const std::filesystem::path flags = folder / "training_args.json"; std::filesystem::exists(flags))
    io::read_json(flags);
}

void load_progress(const SavedProgress& progress, const std::filesystem::path& folder) {
  const parallel::Team& team = progress.optimizer.team();
  std::string files;
  if (team.is_first()) {
    check_checkpoint(folder);
    progress.model.load_weights(folder);
    files = io::dump_json(CheckpointState::read(folder), io::kOneLine);
  }
  const CheckpointState state =
      CheckpointState::from_json(io::parse_json(team.broadcast(std::move(files)), folder.string()), folder);
  parallel::broadcast_weights(progress.model.parameters(), team);
  progress.state = state.trainer;
  if (!state.moments_file.empty()) {
    load_moments(progress, state, folder);
  } else {
    start_moments_anew(progress, folder);
  }
  if (progress.plateau != nullptr && state.plateau) progress.plateau->restore(*state.plateau);
  if (progress.plateau != nullptr && !state.plateau && team.is_first())
    log_warning("{} has no state of {}: the schedule starts from the beginning", folder.string(), optim::kPlateauName);
  if (progress.scaler.enabled() && state.scaler)
    progress.scaler.restore(state.scaler->scale, state.scaler->good_steps, state.scaler->skipped);
}

void rotate_checkpoints(const std::filesystem::path& output_dir, std::int64_t limit,
                        const std::filesystem::path& just_written, const std::filesystem::path& best) {
  std::vector<std::filesystem::path> folders = io::list_checkpoints(output_dir);
  // A higher number does not mean newer: an earlier run may have left it.
  std::ranges::stable_sort(folders, {}, [](const std::filesystem::path& folder) {
    std::error_code error;
    return std::filesystem::last_write_time(folder, error);
  });
  const std::int64_t excess = std::ssize(folders) - std::max<std::int64_t>(1, limit);
  std::vector<std::filesystem::path> oldest;
  for (const std::filesystem::path& folder : folders) {
    if (std::ssize(oldest) >= excess) break;
    if (folder.filename() != just_written.filename() && folder.filename() != best.filename()) oldest.push_back(folder);
  }
  io::remove_folders(oldest);
}

}  // namespace hearth
