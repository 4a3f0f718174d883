#pragma once

#include <string_view>

#include "hearth/launch/plan/launch_plan.h"
#include "hearth/launch/start/variables.h"

namespace hearth::launch {

// Variables that are the same for all ranks: ACCELERATE_*, MASTER_ADDR, MASTER_PORT, CCL_WORKER_*.
Variables job_environment(const LaunchPlan& plan);
// Variables of one rank: RANK, LOCAL_RANK, sizes, and OMP_* for its threads and their places.
Variables rank_environment(const comm::World& rank, const RankPlacement& placement);

// Rank and sizes of this host's process number `local_rank`.
comm::World rank_of(const LaunchPlan& plan, int local_rank);

// A random string that the ranks of one job share; it keeps two jobs apart that use one port.
inline constexpr std::string_view kTokenVariable = "HEARTH_JOB_TOKEN";
std::string random_token();

}  // namespace hearth::launch
