#pragma once

#include "hearth/launch/place/placement.h"
#include "hearth/launch/plan/decisions.h"
#include "hearth/launch/start/variables.h"

namespace hearth::launch {

// OMP_NUM_THREADS, OMP_PLACES and OMP_PROC_BIND of a rank, which the runtimes of GNU and Intel both read. OMP_PLACES,
// OMP_PROC_BIND and GOMP_CPU_AFFINITY of the user are kept; KMP_*, which GNU's runtime ignores, are translated.
Variables openmp_settings(const RankPlacement& placement);

// Notes how the KMP_* variables that are set were translated, or that they have no effect.
void explain_kmp_variables(Decisions& decisions);

}  // namespace hearth::launch
