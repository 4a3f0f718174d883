#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hearth/comm/world.h"

namespace hearth::comm {

// A plug-in is a file libhearth_comm_NAME.so in a folder of HEARTH_PLUGIN_PATH, in lib/hearth beside the program's bin
// folder, or in the folder hearth beside libhearth.so. NAME is the backend's name; several files of one backend have
// the name of a launcher too, as mpi_mpich.
struct PluginFile {
  std::string name, backend;
  std::optional<Launcher> launcher;           // the launcher whose ranks need this file
  std::string package;                        // to install for its library
  std::optional<std::filesystem::path> path;  // of a known plug-in that is not there: none

  std::string file_name() const { return "libhearth_comm_" + name + ".so"; }
  bool serves(Launcher other) const { return !launcher || *launcher == other; }
};

// The known plug-ins in their order, then all others that are there, by name.
std::vector<PluginFile> plugin_files();
std::vector<std::string> backend_names();

std::vector<std::filesystem::path> plugin_folders();

}  // namespace hearth::comm
