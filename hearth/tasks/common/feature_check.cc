#include "hearth/tasks/common/feature_check.h"

#include <fmt/format.h>

#include <filesystem>

namespace hearth::tasks {

void FeatureCheck::finish() const {
  if (setting_.team.size() > 1)
    setting_.team.check_agreement({{"the data of " + std::filesystem::path(file_).filename().string(),
                                    fmt::format("{} rows ({})", rows_, hash_.hex().substr(0, 12))}});
}

}  // namespace hearth::tasks
