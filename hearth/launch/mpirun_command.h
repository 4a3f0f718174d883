#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/launch/launch_plan.h"

namespace hearth::launch {

enum class MpiKind { mpich, intel, openmpi };

struct Mpirun {
  std::string program;
  MpiKind kind = MpiKind::mpich;
};

// mpirun or mpiexec, the first that this machine has. An Error where there is none.
Mpirun find_mpirun();
MpiKind kind_of_mpirun(std::string_view version);

// Starts this launcher once a rank, each in the world that mpirun makes; there it places the rank and becomes `target`.
std::vector<std::string> mpirun_command(const Mpirun& mpirun, const LaunchPlan& plan, const LaunchOptions& options,
                                        const std::vector<std::string>& target);

// The rank in front of a line, "[3] text" of MPICH and Intel MPI, "[1,3]<stdout>:text" of Open MPI, and the text;
// -1 where there is none.
std::pair<int, std::string_view> mpirun_line_origin(std::string_view line);

}  // namespace hearth::launch
