#pragma once

#include <filesystem>

#include "hearth/base/profiler.h"

namespace hearth {

// Writes profile.json (time per op and thread, over all steps) and trace.json (every span of the first steps, a track
// per thread, in Chrome's trace event format for chrome://tracing and Perfetto), and logs the time per op as a table.
void write_profile(const Profiler& profiler, const std::filesystem::path& folder);

}  // namespace hearth
