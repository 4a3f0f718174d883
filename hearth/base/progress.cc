#include "hearth/base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "hearth/base/environment.h"
#include "hearth/base/terminal.h"
#include "hearth/base/terminal_bar.h"
#include "hearth/base/text_layout.h"

namespace hearth {
namespace {

using Moment = ProgressLine::Moment;

constexpr double kRedrawSeconds = 0.1, kReportSeconds = 15;

std::mutex mutex;
// Guarded by the mutex.
TerminalBar bar;
Progress::Sink sink;

}  // namespace

Progress::Output Progress::find_output() {
  const std::lock_guard lock(mutex);
  if (sink.progress) return Output::sink;
  if (can_redraw(STDERR_FILENO)) return Output::terminal;
  const std::string launcher = environment(kProgressPipeVariable);
  return !launcher.empty() && launcher == pipe_identity(STDERR_FILENO) ? Output::launcher : Output::plain;
}

Progress::Progress(std::string_view title, std::int64_t total, bool quiet)
    : output_(quiet ? Output::nothing : find_output()), title_(printable(title)), total_(total) {}

Progress::~Progress() {
  const bool already_told = output_ == Output::plain && shown_ == done_;
  if (output_ != Output::nothing && done_ > 0 && !already_told) show(Moment::end);
}

void Progress::update(std::int64_t done, std::vector<std::string> details) {
  if (done_ == 0) before_ = std::max<std::int64_t>(0, done - 1);
  done_ = done;
  details_ = std::move(details);
  if (output_ == Output::nothing) return;
  const bool report = since_report_.seconds() >= kReportSeconds;
  const bool redraw = output_ != Output::plain && since_show_.seconds() >= kRedrawSeconds;
  if (report || redraw) show(report ? Moment::report : Moment::passing);
}

ProgressLine Progress::current() const {
  const double elapsed = since_start_.seconds();
  const auto fresh = static_cast<double>(std::max<std::int64_t>(1, done_ - before_));
  const double left = elapsed / fresh * static_cast<double>(std::max<std::int64_t>(0, total_ - done_));
  return {title_, done_, total_, std::llround(elapsed), std::llround(left), details_, {}};
}

void Progress::show(Moment moment) {
  ProgressLine line = current();
  line.moment = moment;
  shown_ = done_;
  since_show_.restart();
  if (moment == Moment::report) since_report_.restart();
  const std::lock_guard lock(mutex);
  if (output_ == Output::sink) return sink.progress ? sink.progress(line) : void();
  if (output_ == Output::terminal) return bar.draw(std::move(line));
  write_text(STDERR_FILENO, (output_ == Output::launcher ? encoded(line) : plain_text(line)) + "\n");
}

void Progress::print_line(int descriptor, std::string_view line) {
  const std::lock_guard lock(mutex);
  if (!sink.line || !sink.line(descriptor, line)) bar.print(descriptor, line);
}

void Progress::set_sink(Sink new_sink) {
  const std::lock_guard lock(mutex);
  sink = std::move(new_sink);
}

}  // namespace hearth
