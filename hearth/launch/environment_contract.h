#pragma once

#include <string_view>

#include "hearth/launch/launch_plan.h"
#include "hearth/launch/variables.h"

namespace hearth::launch {

// What every process of the job is told: ACCELERATE_*, where rank 0 is, threads of communication.
Variables job_environment(const LaunchPlan& plan);
// What one of them is told: RANK, LOCAL_RANK, sizes, threads and their places.
Variables rank_environment(const comm::World& rank, const RankPlacement& placement);

// The place in the world of this host's process number `local_rank`.
comm::World rank_of(const LaunchPlan& plan, int local_rank);

// A word that the ranks of one job share and no other job has.
inline constexpr std::string_view kTokenVariable = "HEARTH_JOB_TOKEN";
std::string random_token();

}  // namespace hearth::launch
