#include "hearth/base/terminal_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace hearth {
namespace {

constexpr std::string_view kErase = "\r\x1b[J";  // from the first column to the end of the screen

std::string drawn(const ProgressLine& line) { return fitted(line, terminal_columns(STDERR_FILENO)); }

}  // namespace

void TerminalBar::draw(ProgressLine line) {
  const bool ends = line.moment == ProgressLine::Moment::end;
  write_(STDERR_FILENO, fmt::format("{}{}{}", kErase, drawn(line), ends ? "\n" : "\r"));
  current_ = ends ? std::nullopt : std::optional(std::move(line));
}

void TerminalBar::print(int descriptor, std::string_view line) {
  if (current_) write_(STDERR_FILENO, kErase);
  std::fflush(stdout);
  write_(descriptor, fmt::format("{}\n", line));
  if (current_) draw(*std::exchange(current_, std::nullopt));
}

void TerminalBar::leave() {
  if (std::exchange(current_, std::nullopt)) write_(STDERR_FILENO, "\n");
}

}  // namespace hearth
