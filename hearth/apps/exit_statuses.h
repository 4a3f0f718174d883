#pragma once

#include <string_view>

namespace hearth::apps {

// For the help and the manual page.
inline constexpr std::string_view kExitStatuses =
    "0 success, 1 failure, 2 wrong command line or file of options, 3 training stopped at a NaN or an infinity, 75 "
    "training stopped by a signal after it saved a checkpoint; `hearth launch` exits with the status of its target.";

}  // namespace hearth::apps
