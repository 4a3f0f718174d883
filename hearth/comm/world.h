#pragma once

#include <string>
#include <vector>

namespace hearth::comm {

// This process's place among the processes of a job, from the first launcher's variables that are set: torchrun's and
// hearth launch's RANK, WORLD_SIZE, LOCAL_*; PMI_* and MPI_LOCAL* of MPICH and Intel MPI; OMPI_*; MV2_*; PMIX_*;
// SLURM_*.
struct World {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;
  std::string launcher = "none";  // none, environment, mpich, intel, openmpi, mvapich, pmix, slurm

  bool several_hosts() const { return local_size < size; }
};

World world_from_environment();

std::string host_name();  // what this host calls itself

// The variables that the world came from.
std::vector<std::string> world_variables();

// What to tell the user whose mpirun was not the one that started this process; empty where it was.
std::string launcher_advice(const World& world);

}  // namespace hearth::comm
