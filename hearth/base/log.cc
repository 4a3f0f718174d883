#include "hearth/base/log.h"

#include <cstdio>
#include <mutex>

#include "hearth/base/text_layout.h"

namespace hearth {
namespace {

std::mutex mutex;
LogLevel lowest_level = LogLevel::info;  // guarded by the mutex

LogSink& sink() {
  static LogSink instance;
  return instance;
}

}  // namespace

LogSink set_log_sink(LogSink new_sink) {
  const std::lock_guard lock(mutex);
  return std::exchange(sink(), std::move(new_sink));
}

void set_log_level(LogLevel lowest) {
  const std::lock_guard lock(mutex);
  lowest_level = lowest;
}

void log_message(LogLevel level, std::string_view message) {
  const std::lock_guard lock(mutex);
  if (level < lowest_level) return;
  const std::string shown = printable_lines(message);
  if (sink()) return sink()(level, shown);
  fmt::print(stderr, "{}{}\n", level == LogLevel::warning ? "warning: " : "", shown);
}

}  // namespace hearth
