#pragma once

#include <string>
#include <vector>

#include "hearth/launch/launch_plan.h"
#include "hearth/launch/supervisor.h"

namespace hearth::launch {

// What was decided, and why; then where each rank runs: its node, cores and threads.
std::string plan_table(const LaunchPlan& plan);

// The command, and the variables that it gets, those of all ranks first.
std::string command_table(const std::vector<std::string>& command, const std::vector<RankStart>& ranks);

}  // namespace hearth::launch
