#include "hearth/launch/launch.h"

#include <fmt/format.h>

#include "hearth/apps/command.h"

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
  if (end.status != 0) print_error(end.failure);
  return end.status;
}

}  // namespace hearth::apps
