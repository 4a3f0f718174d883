#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/base/enum_names.h"

namespace hearth::comm {

// Who started this process as a rank of its job. environment: anyone who sets RANK and WORLD_SIZE, such as torchrun and
// hearth launch. threads: run_threads().
enum class Launcher { none, environment, mpich, intel, openmpi, mvapich, pmix, slurm, threads };
constexpr std::array<std::string_view, 9> names_of(Launcher) {
  return {"none", "environment", "mpich", "intel", "openmpi", "mvapich", "pmix", "slurm", "threads"};
}

// Rank and sizes of this process in its job, from the environment variables of the launcher. They are looked up in this
// order: RANK, WORLD_SIZE, LOCAL_* of torchrun and hearth launch; PMI_* and MPI_LOCAL* of MPICH and Intel MPI; OMPI_*;
// MV2_*; PMIX_*; SLURM_*.
struct World {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;
  Launcher launcher = Launcher::none;

  bool several_hosts() const { return local_size < size; }
};

inline constexpr int kDefaultPort = 29500;  // where MASTER_PORT is not set, as in PyTorch

HEARTH_API World world_from_environment();

HEARTH_API std::string host_name();  // as gethostname reports it

// The names of the variables that world_from_environment() read.
HEARTH_API std::vector<std::string> world_variables();

// A warning for users whose Intel mpirun ended up starting MPICH's; empty otherwise.
HEARTH_API std::string launcher_advice(const World& world);

}  // namespace hearth::comm
