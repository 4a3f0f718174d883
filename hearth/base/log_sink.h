#pragma once

#include <functional>
#include <string_view>

#include "hearth/base/api.h"

namespace hearth {

// Modules below train/ do not print: their messages go to one sink, which the program sets. Without a sink they go to
// stderr. The sink gets printable text (text_layout.h). Errors are exceptions, not messages; LogLevel::error is only a
// threshold.
enum class LogLevel { info, warning, error };
using LogSink = std::function<void(LogLevel, std::string_view)>;

HEARTH_API LogSink set_log_sink(LogSink sink);  // returns the one before
// Messages below this level are dropped; `info` at the start of the program.
HEARTH_API void set_log_level(LogLevel lowest);
HEARTH_API void log_message(LogLevel level, std::string_view message);

}  // namespace hearth
