#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/launch/plan/launch_plan.h"

namespace hearth::launch {

enum class MpiKind { mpich, intel, openmpi };

struct Mpirun {
  std::string program;
  MpiKind kind = MpiKind::mpich;
};

// The first of mpirun and mpiexec in PATH; an Error if there is none.
Mpirun find_mpirun();
MpiKind kind_of_mpirun(std::string_view version);

// The command that starts this launcher once per rank under mpirun; there it places the rank and becomes `target`.
std::vector<std::string> mpirun_command(const Mpirun& mpirun, const LaunchPlan& plan, const LaunchOptions& options,
                                        const std::vector<std::string>& target);

// Splits a line of output into rank and text: "[3] text" of MPICH and Intel MPI, "[1,3]<stdout>:text" of Open MPI. The
// rank is -1 if the line has none.
std::pair<int, std::string_view> mpirun_line_origin(std::string_view line);

}  // namespace hearth::launch
