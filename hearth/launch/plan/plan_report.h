#pragma once

#include <string>
#include <vector>

#include "hearth/launch/plan/launch_plan.h"
#include "hearth/launch/watch/supervisor.h"

namespace hearth::launch {

// The table of settings with their reasons, then the nodes, cores and threads of each rank.
std::string plan_table(const LaunchPlan& plan);

// The command and its environment variables: first those that all ranks share, then those of each rank.
std::string command_table(const std::vector<std::string>& command, const std::vector<RankStart>& ranks);

}  // namespace hearth::launch
