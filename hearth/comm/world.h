#pragma once

#include <string>
#include <vector>

namespace hearth::comm {

// Rank and sizes of this process in its job, from the environment variables of the launcher. They are looked up in this
// order: RANK, WORLD_SIZE, LOCAL_* of torchrun and hearth launch; PMI_* and MPI_LOCAL* of MPICH and Intel MPI; OMPI_*;
// MV2_*; PMIX_*; SLURM_*.
struct World {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;
  std::string launcher = "none";  // none, environment, mpich, intel, openmpi, mvapich, pmix, slurm

  bool several_hosts() const { return local_size < size; }
};

World world_from_environment();

std::string host_name();  // as gethostname reports it

// The names of the variables that world_from_environment() read.
std::vector<std::string> world_variables();

// A warning for users whose Intel mpirun ended up starting MPICH's; empty otherwise.
std::string launcher_advice(const World& world);

}  // namespace hearth::comm
