#include "hearth/launch/launch.h"

#include <fmt/format.h>
#include <unistd.h>

#include "hearth/apps/command.h"
#include "hearth/base/exit_status.h"
#include "hearth/base/log.h"
#include "hearth/base/terminal.h"

namespace hearth::apps {

int launch(std::span<const std::string> words) {
  const launch::LaunchOptions options = launch::parse_launch_options(words);
  if (options.help) {
    fmt::print("{}", *options.help);
    return 0;
  }
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  const launch::LaunchEnd end = launch::launch(options, names);
  if (end.status == 0 || !takes_text(STDERR_FILENO)) return end.status;
  end.status == kInterruptedStatus ? log_warning("{}", end.failure) : print_error(end.failure);
  return end.status;
}

}  // namespace hearth::apps
