#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hearth::migrate {

// Why an environment variable with this value has no effect on Hearth; nothing if it has one, or may have one on
// another program.
std::optional<std::string> why_without_effect(std::string_view name, std::string_view value);

}  // namespace hearth::migrate
