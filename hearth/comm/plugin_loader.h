#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hearth/comm/plugin.h"

// A plug-in is a file libhearth_comm_NAME.so in a folder of HEARTH_PLUGIN_PATH, or in lib/hearth beside the program's
// bin folder. The backend mpi has three plug-ins, mpi_mpich, mpi_intel and mpi_openmpi: the launcher in use decides,
// and without a launcher the first that is there.
namespace hearth::comm {

struct BackendInfo {
  std::string name;     // gloo, mpi_mpich, ...
  std::string library;  // the library behind it, with its version
  std::string problem;  // why it cannot be used; empty if it can
};
std::vector<BackendInfo> backends();

std::optional<std::filesystem::path> find_plugin(const std::string& backend, const std::string& launcher);
// The plug-in stays loaded until the process ends.
const HearthCommPlugin& load_plugin(const std::string& backend, const std::string& launcher);

}  // namespace hearth::comm
