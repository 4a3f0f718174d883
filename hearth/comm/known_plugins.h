#pragma once

#include <span>
#include <string_view>

namespace hearth::comm {

// The plug-ins of Hearth's own sources, in the order of cmake/plugins.cmake, which writes this table.
struct KnownPlugin {
  std::string_view name;     // gloo, mpi_mpich
  std::string_view package;  // to install for its library: "the package libgloo-dev"
};
std::span<const KnownPlugin> known_plugins();

}  // namespace hearth::comm
