#include "hearth/base/environment.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "hearth/base/error.h"

namespace hearth {
namespace {

constexpr std::array kVariables{
    EnvironmentVariable{"HEARTH_MAX_ISA", "caps the instruction set, as --max_isa"},
    EnvironmentVariable{"HEARTH_CACHE", "where prepared data is kept; ~/.cache/hearth otherwise"},
    EnvironmentVariable{"OMP_NUM_THREADS", "the number of threads; one a core otherwise"},
    EnvironmentVariable{"OMP_PROC_BIND", "whether OpenMP binds threads to processors"},
    EnvironmentVariable{"OMP_PLACES", "the processors that OpenMP binds threads to"},
    EnvironmentVariable{"GOMP_CPU_AFFINITY", "the same for GNU OpenMP alone"},
    EnvironmentVariable{"ONEDNN_MAX_CPU_ISA", "oneDNN's own cap; HEARTH_MAX_ISA or the processor's level replaces it"},
    EnvironmentVariable{"WORLD_SIZE", "the number of processes, as torchrun sets it"},
    EnvironmentVariable{"PMI_SIZE", "the same, as MPICH and Intel MPI set it"},
    EnvironmentVariable{"OMPI_COMM_WORLD_SIZE", "the same, as Open MPI sets it"},
    EnvironmentVariable{"MV2_COMM_WORLD_SIZE", "the same, as MVAPICH2 sets it"},
    EnvironmentVariable{"HF_HUB_CACHE", "where models of the Hub lie; $HF_HOME/hub otherwise"},
    EnvironmentVariable{"HF_HOME", "~/.cache/huggingface otherwise"},
    EnvironmentVariable{"XDG_CACHE_HOME", "~/.cache otherwise"},
    EnvironmentVariable{"HOME", "the home folder"},
};

}  // namespace

std::span<const EnvironmentVariable> environment_variables() { return kVariables; }

std::string environment(std::string_view name) {
  const auto found = std::ranges::find(kVariables, name, &EnvironmentVariable::name);
  check(found != kVariables.end(), "[environment] {} is not declared", name);
  const char* value = std::getenv(found->name);
  return value == nullptr ? "" : value;
}

}  // namespace hearth
