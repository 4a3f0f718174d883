#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hearth/comm/plugin.h"
#include "hearth/comm/world.h"

namespace hearth::comm {

// What a plug-in says of itself to the ranks of a job.
struct PluginInfo {
  std::string name;     // gloo, mpi_mpich, ...
  std::string library;  // the library behind it, with its version
  std::string problem;  // why it cannot be loaded; empty if it can
  std::string refusal;  // why these ranks cannot use it; empty if they can
  int preference = 0;
};
// Of the known plug-ins and all others that are there. Each is loaded in a child process.
std::vector<PluginInfo> describe_plugins(const World& world = {});

// The backend to use where the user names none: of those that do not refuse these ranks, the one with
// the highest preference. A plug-in that cannot be loaded is passed over, with a warning of one rank per host.
std::string preferred_backend(const World& world);

// The file of a backend that has one per launcher: that of `launcher`, otherwise the first that is there.
std::optional<std::filesystem::path> find_plugin(const std::string& backend, Launcher launcher);
// The plug-in stays loaded until the process ends. Throws if it is not there, cannot be used or refuses these ranks.
const HearthCommPlugin& load_plugin(const std::string& backend, const World& world);

}  // namespace hearth::comm
