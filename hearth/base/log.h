#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace hearth {

// Modules below train/ do not print: their messages go to one sink, which the program sets. Without a sink they go to
// stderr. The sink gets printable text (text_layout.h). Errors are exceptions, not messages; LogLevel::error is only a
// threshold.
enum class LogLevel { info, warning, error };
using LogSink = std::function<void(LogLevel, std::string_view)>;

LogSink set_log_sink(LogSink sink);  // returns the one before
// Messages below this level are dropped; `info` at the start of the program.
void set_log_level(LogLevel lowest);
void log_message(LogLevel level, std::string_view message);

template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::info, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_message(LogLevel::warning, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace hearth
