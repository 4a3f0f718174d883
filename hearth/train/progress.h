#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hearth/base/timer.h"

namespace hearth {

// Shows a long job to a person: a bar that redraws itself on a terminal, else a plain line now and then.
class Progress {
 public:
  // `quiet`: nothing at all.
  Progress(std::string title, std::int64_t total, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `details` stands behind the bar: "loss 1.23, lr 3e-05".
  void update(std::int64_t done, std::string_view details = {});
  // A line of its own that does not tear the bar.
  static void print_line(std::string_view line);
  // Takes the bar from the terminal, whoever's it is, so that something else can be printed; the next update draws it
  // again. Any thread may call it.
  static void clear_current() noexcept;

 private:
  void draw();

  std::string title_, details_;
  std::int64_t total_, done_ = 0, first_ = -1;
  bool quiet_, on_terminal_;
  Timer since_start_, since_draw_;
};

}  // namespace hearth
