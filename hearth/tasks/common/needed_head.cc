#include "hearth/tasks/common/needed_head.h"

#include "hearth/base/check.h"

namespace hearth::tasks {

void check_head(const NeededHead& needed, std::optional<models::HeadKind> found, const models::Config& config) {
  check(found == needed.kind, "{}: this model has no head for {}; train one with {}", config.file(), needed.task,
        needed.trained_by);
}

std::unique_ptr<models::Pretrained> load_with_head(const std::filesystem::path& folder, const NeededHead& needed) {
  const models::Config config = models::load_config(folder);
  check_head(needed, models::known_head_of(config), config);
  return models::load_pretrained(folder, needed.kind);
}

}  // namespace hearth::tasks
