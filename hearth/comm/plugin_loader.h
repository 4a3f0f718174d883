#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hearth/comm/plugin.h"

// Plug-ins are files libhearth_comm_NAME.so in a folder of HEARTH_PLUGIN_PATH or in lib/hearth beside the program's own
// folder. That of mpi comes in flavours, mpi_mpich, mpi_intel and mpi_openmpi: the launcher in use decides, and where
// there is none the first that is there.
namespace hearth::comm {

struct BackendInfo {
  std::string name;     // gloo, mpi_mpich, ...
  std::string library;  // behind it, with its version
  std::string problem;  // why it cannot be used; empty where it can
};
std::vector<BackendInfo> backends();

std::optional<std::filesystem::path> find_plugin(const std::string& backend, const std::string& launcher);
// Stays loaded to the end of the process.
const HearthCommPlugin& load_plugin(const std::string& backend, const std::string& launcher);

}  // namespace hearth::comm
