#include "hearth/train/checkpoint_keeper.h"

#include <algorithm>

#include "hearth/io/checkpoint_folders.h"
#include "hearth/io/folder_checksums.h"
#include "hearth/io/replace_folder.h"
#include "hearth/train/checkpoint.h"

namespace hearth {

CheckpointKeeper::CheckpointKeeper(std::filesystem::path output_dir, std::optional<std::int64_t> limit)
    : output_dir_(std::move(output_dir)), limit_(limit) {}

void CheckpointKeeper::resume(TrainerState& state, const std::filesystem::path& checkpoint,
                              std::span<const std::filesystem::path> former) {
  // "checkpoint-8/" has no filename
  const std::filesystem::path folder = checkpoint.has_filename() ? checkpoint : checkpoint.parent_path();
  own_[state.global_step] = folder;
  const std::filesystem::path best = state.best_model_checkpoint;
  if (best.empty()) return;
  const auto is_own = [&](const std::filesystem::path& place) {
    return std::filesystem::exists(place) && std::ranges::none_of(former, [&](const std::filesystem::path& one) {
             return std::filesystem::equivalent(one, place);
           });
  };
  for (const auto& place : {folder.parent_path() / best.filename(), best, output_dir_ / best.filename()})
    if (is_own(place)) {
      state.best_model_checkpoint = place.string();
      return;
    }
  if (std::filesystem::exists(best)) state.best_model_checkpoint.clear();  // a former run's
}

void CheckpointKeeper::save(TrainerState& state, const std::function<void(const std::filesystem::path&)>& write) {
  note(state.global_step);
  const std::filesystem::path folder = own_.at(state.global_step);
  if (const auto best = own_.find(state.best_global_step); state.best_metric && best != own_.end())
    if (best->second == folder || std::filesystem::exists(best->second))
      state.best_model_checkpoint = best->second.string();
  io::replace_folder(folder, [&](const std::filesystem::path& partial) {
    write(partial);
    io::write_checksums(partial);
  });
  if (limit_) rotate_checkpoints(output_dir_, *limit_, folder, state.best_model_checkpoint);
}

void CheckpointKeeper::note(std::int64_t step) { own_[step] = output_dir_ / io::checkpoint_name(step); }

std::filesystem::path CheckpointKeeper::last() const {
  const auto exists = [](const auto& own) { return std::filesystem::exists(own.second); };
  const auto last = std::find_if(own_.rbegin(), own_.rend(), exists);
  return last == own_.rend() ? std::filesystem::path() : last->second;
}

}  // namespace hearth
