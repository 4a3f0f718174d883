#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/progress_line.h"
#include "hearth/base/timer.h"

namespace hearth {

// Shows how far a long job is: as a bar on a terminal, also on that of `hearth launch`, otherwise as a plain line every
// 15 seconds.
class Progress {
 public:
  // `quiet`: shows nothing.
  Progress(std::string_view title, std::int64_t total, bool quiet);
  ~Progress();  // shows the last update
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `details` follow the numbers, as many as fit: {"loss 1.23", "lr 3e-05"}.
  void update(std::int64_t done, std::vector<std::string> details = {});

  // Prints a line to one of the standard streams without damaging the bar of any Progress. Any thread may call it.
  static void print_line(int descriptor, std::string_view line);

  // A program that shows things elsewhere than on the standard streams, such as a notebook, takes the progress, the
  // lines, or both; members that are not set leave them where they are, and so does a `line` that returns false. One
  // thread at a time calls the members.
  struct Sink {
    std::function<void(const ProgressLine&)> progress = {};
    std::function<bool(int descriptor, std::string_view line)> line = {};
  };
  static void set_sink(Sink sink);

 private:
  enum class Output { nothing, terminal, launcher, plain, sink };

  static Output find_output();
  ProgressLine current() const;
  void show(ProgressLine::Moment moment);

  Output output_;
  std::string title_;
  std::vector<std::string> details_;
  std::int64_t total_, done_ = 0;
  std::int64_t before_ = 0;  // done before this run
  std::int64_t shown_ = 0;   // `done_` when it was shown last
  Timer since_start_, since_show_, since_report_;
};

}  // namespace hearth
