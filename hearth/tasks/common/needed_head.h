#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "hearth/models/pretrained.h"

namespace hearth::tasks {

// The head that a command cannot do without.
struct NeededHead {
  models::HeadKind kind;
  std::string_view task;        // "text classification"
  std::string_view trained_by;  // "hearth run_glue or run_classification"
};

// An Error that names config.json unless `found` is the head.
void check_head(const NeededHead& needed, std::optional<models::HeadKind> found, const models::Config& config);

// Looks at config.json before it loads any weights: a head that is missing there would be initialised.
std::unique_ptr<models::Pretrained> load_with_head(const std::filesystem::path& folder, const NeededHead& needed);

}  // namespace hearth::tasks
