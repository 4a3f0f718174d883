#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

// The text of a progress bar at one moment.
struct ProgressLine {
  enum class Moment {
    passing,  // soon replaced by the next one
    report,   // also worth a line in a log file
    end       // the last one
  };

  std::string title;
  std::int64_t done = 0, total = 0;  // total 0: not known, so there is no bar and no percentage
  std::int64_t seconds = 0, seconds_left = 0;
  std::vector<std::string> details;  // the most important first: "loss 1.23"
  Moment moment = Moment::passing;

  bool has_total() const { return total > 0; }
};

// The line for a terminal of so many columns. It never reaches the last column, so that no terminal wraps it. Where
// room is short, details are dropped from the end, then the bar, the time elapsed, the title, the time left and the
// count; the percentage goes last.
std::string fitted(const ProgressLine& line, std::size_t columns);

// The line for a log file, with all details and without the bar.
std::string plain_text(const ProgressLine& line);

// A process under `hearth launch` sends its progress lines to the launcher, which draws them on its own terminal: on
// stderr, as lines that begin with a control character. The launcher names the pipe that it reads them from in this
// variable, so that a process whose stderr was redirected elsewhere does not write them there.
inline constexpr std::string_view kProgressPipeVariable = "HEARTH_PROGRESS_PIPE";
std::string encoded(const ProgressLine& line);
std::optional<ProgressLine> decoded_progress(std::string_view text);

// The value of that variable for the pipe behind a descriptor.
std::string pipe_identity(int descriptor);

}  // namespace hearth
