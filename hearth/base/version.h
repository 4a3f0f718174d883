#pragma once

#include <string_view>

namespace hearth {

inline constexpr std::string_view kVersion = HEARTH_VERSION;

}  // namespace hearth
