#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "hearth/base/progress_line.h"
#include "hearth/base/terminal.h"

namespace hearth {

// A progress bar on the last line of the terminal behind stderr, and other lines that scroll by above it. One thread at
// a time may call it.
//
// The cursor waits at the bar's first character, not behind it: if the window becomes narrower and the terminal wraps
// the bar, everything from the cursor on is still the bar, and is erased before the next one is drawn.
class TerminalBar {
 public:
  using Write = std::function<void(int descriptor, std::string_view text)>;

  explicit TerminalBar(Write write = write_text) : write_(std::move(write)) {}

  // Draws the line over the one before, as wide as the terminal is now. The line at Moment::end stays where it is.
  void draw(ProgressLine line);
  // Prints a line above the bar, if there is one, on one of the standard streams.
  void print(int descriptor, std::string_view line);
  // Leaves the bar, if there is one, as it is and goes to the next line.
  void leave();

 private:
  Write write_;
  std::optional<ProgressLine> current_;
};

}  // namespace hearth
