#include "hearth/base/terminal.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "hearth/base/environment.h"
#include "hearth/base/whole_number.h"

namespace hearth {
namespace {

constexpr std::size_t kUsualColumns = 80, kHelpColumns = 120;

std::optional<std::size_t> columns_by_terminal(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

std::optional<std::size_t> columns_by_environment() { return whole_number<std::size_t>(environment("COLUMNS"), 1); }

bool shows_colours(int descriptor) { return can_redraw(descriptor) && environment("NO_COLOR").empty(); }

}  // namespace

std::size_t terminal_columns(int descriptor) {
  const std::optional<std::size_t> known = columns_by_terminal(descriptor);
  return known ? *known : columns_by_environment().value_or(kUsualColumns);
}

std::size_t help_columns() {
  const std::optional<std::size_t> known = columns_by_terminal(STDOUT_FILENO);
  return std::min(kHelpColumns, known ? *known : columns_by_environment().value_or(kHelpColumns));
}

bool can_redraw(int descriptor) { return isatty(descriptor) != 0 && environment("TERM") != "dumb"; }

std::string highlighted(std::string_view line, int descriptor) {
  constexpr std::string_view kYellow = "\x1b[33m", kRed = "\x1b[31m", kPlain = "\x1b[0m", kProgram = "hearth: ";
  if (!shows_colours(descriptor)) return std::string(line);
  const std::string_view program = line.starts_with(kProgram) ? kProgram : "";
  const std::string_view rest = line.substr(program.size());
  for (const auto& [word, colour] : {std::pair("warning:", kYellow), std::pair("error:", kRed)})
    if (rest.starts_with(word))
      return fmt::format("{}{}{}{}{}", program, colour, word, kPlain, rest.substr(std::string_view(word).size()));
  return std::string(line);
}

bool takes_text(int descriptor) {
  pollfd ready{descriptor, POLLOUT, 0};
  return poll(&ready, 1, 1000) > 0;
}

void write_text(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
    if (count > 0 || errno == EINTR) continue;
    if (errno != EAGAIN) return;
    pollfd ready{descriptor, POLLOUT, 0};
    poll(&ready, 1, -1);
  }
}

}  // namespace hearth
