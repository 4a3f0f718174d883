#include "hearth/train/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>

namespace hearth {
namespace {

constexpr double kRedrawSeconds = 0.1, kPlainLineSeconds = 15;
constexpr std::size_t kBarWidth = 24;

std::mutex terminal;
bool bar_stands = false;  // on the terminal's last line; guarded by the mutex

// Unlike fmt::print this does not throw where the disk behind a redirected log is full: training goes on.
void put(const std::string& text, std::FILE* file) {
  std::fputs(text.c_str(), file);
  std::fflush(file);
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long long>(seconds + 0.5);
  return whole >= 3600 ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                       : fmt::format("{:02}:{:02}", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(std::string title, std::int64_t total, bool quiet)
    : title_(std::move(title)), total_(total), quiet_(quiet), on_terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (quiet_ || done_ == 0) return;
  draw();
  if (!on_terminal_) return;
  const std::lock_guard lock(terminal);
  put("\n", stderr);
  bar_stands = false;
}

void Progress::update(std::int64_t done, std::string_view details) {
  if (first_ < 0) first_ = std::max<std::int64_t>(0, done - 1);
  done_ = done;
  details_ = details;
  if (quiet_) return;
  const double wait = on_terminal_ ? kRedrawSeconds : kPlainLineSeconds;
  if (since_draw_.seconds() >= wait) draw();
}

void Progress::draw() {
  since_draw_.restart();
  const double share = total_ > 0 ? static_cast<double>(done_) / static_cast<double>(total_) : 1;
  const double elapsed = since_start_.seconds();
  const std::int64_t fresh = done_ - std::max<std::int64_t>(0, first_);
  const double left = fresh > 0 ? elapsed / static_cast<double>(fresh) * static_cast<double>(total_ - done_) : 0;
  const std::string numbers = fmt::format("{:3.0f}% {}/{} [{} elapsed, {} left]{}{}", 100 * share, done_, total_,
                                          clock_text(elapsed), clock_text(left), details_.empty() ? "" : " ", details_);
  const std::lock_guard lock(terminal);
  if (on_terminal_) {
    const auto filled = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * kBarWidth);
    put(fmt::format("\r\x1b[K{} |{}{}| {}", title_, std::string(filled, '#'), std::string(kBarWidth - filled, '-'),
                    numbers),
        stderr);
    bar_stands = true;
  } else {
    put(fmt::format("{}: {}\n", title_, numbers), stderr);
  }
}

void Progress::clear_current() noexcept {
  const std::lock_guard lock(terminal);
  if (bar_stands) put("\r\x1b[K", stderr);
  bar_stands = false;
}

void Progress::print_line(std::string_view line) {
  clear_current();
  put(fmt::format("{}\n", line), stdout);
}

}  // namespace hearth
