#pragma once

#include <filesystem>

#include "hearth/base/profiler.h"

namespace hearth {

// Writes profile.json, the time of all steps by op, and trace.json, the first steps span by span in Chrome's trace
// event format, which chrome://tracing and Perfetto show; and logs the former as a table.
void write_profile(const Profiler& profiler, const std::filesystem::path& folder);

}  // namespace hearth
