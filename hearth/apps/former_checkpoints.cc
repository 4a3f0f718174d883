#include "hearth/apps/former_checkpoints.h"

#include <utility>

#include "hearth/io/replace_folder.h"

namespace hearth::apps {

void FormerCheckpoints::on_save(const TrainingProgress&, TrainerControl&, const std::filesystem::path& checkpoint) {
  std::erase_if(folders_,
                [&](const std::filesystem::path& folder) { return folder.filename() == checkpoint.filename(); });
}

void FormerCheckpoints::remove() {
  std::erase_if(folders_, [](const std::filesystem::path& folder) { return !std::filesystem::exists(folder); });
  io::remove_folders(std::exchange(folders_, {}));
}

}  // namespace hearth::apps
