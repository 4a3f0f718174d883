#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hearth/base/api.h"
#include "hearth/comm/world.h"
#include "hearth/parallel/team.h"

namespace hearth {

struct ProcessGroupOptions {
  std::optional<std::string> backend =
      {};  // gloo, shm, mpi or ccl; not given: the best of those that this launcher can use
  std::int64_t timeout_seconds = 1800;
  std::int64_t num_threads = 0;  // of this process; 0: OMP_NUM_THREADS, otherwise one per core that it gets
};

// Joins the processes of this job, which `hearth launch`, mpirun, srun or torchrun has started; the environment
// variables of the launcher say how many there are (comm/world.h). A process that no launcher started is alone. Each
// process of a host is pinned to its own cores, unless its launcher pinned it. Processes that have one hardware thread
// each take turns on the threads of all. Ranks above 0 show warnings alone. Call it once, before the first parallel
// work.
HEARTH_API parallel::Team init_process_group(const ProcessGroupOptions& options = {});
// The same where the caller has read the environment and set the log level.
HEARTH_API parallel::Team init_process_group(const comm::World& world, const ProcessGroupOptions& options);

}  // namespace hearth
