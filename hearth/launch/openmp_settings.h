#pragma once

#include "hearth/launch/decisions.h"
#include "hearth/launch/placement.h"
#include "hearth/launch/variables.h"

namespace hearth::launch {

// Threads and where they run, in the variables of the OpenMP standard, which GNU's and Intel's runtimes both read.
// What the user set of OMP_PLACES, OMP_PROC_BIND or GOMP_CPU_AFFINITY stays; KMP_*, which mean nothing to GNU's
// runtime, are translated.
Variables openmp_settings(const RankPlacement& placement);

// What became of the KMP_* variables that are set.
void explain_kmp_variables(Decisions& decisions);

}  // namespace hearth::launch
