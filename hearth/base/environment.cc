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
    EnvironmentVariable{"HF_HUB_CACHE", "folder of models downloaded from the Hub; $HF_HOME/hub otherwise"},
    EnvironmentVariable{"HUGGINGFACE_HUB_CACHE", "the older name of HF_HUB_CACHE"},
    EnvironmentVariable{"TRANSFORMERS_CACHE", "the oldest name of HF_HUB_CACHE; counts more, as in transformers"},
    EnvironmentVariable{"HF_HOME", "~/.cache/huggingface otherwise"},
    EnvironmentVariable{"XDG_CACHE_HOME", "~/.cache otherwise"},
    EnvironmentVariable{"XDG_STATE_HOME", "the folder of hearth/ask_history; ~/.local/state otherwise"},
    EnvironmentVariable{"HOME", "the home folder"},
    EnvironmentVariable{"COLUMNS", "the width of the terminal, where it does not tell it itself"},
    EnvironmentVariable{"NO_COLOR", "any value: no colours"},
    EnvironmentVariable{"TERM", "the kind of terminal; dumb: no progress bar and no colours"},
    EnvironmentVariable{"OMP_WAIT_POLICY", "whether OpenMP's threads spin while they wait"},
    EnvironmentVariable{"KMP_AFFINITY", "Intel OpenMP's binding; `hearth launch` translates it"},
    EnvironmentVariable{"KMP_BLOCKTIME", "how long Intel OpenMP's threads spin; `hearth launch` translates it"},
    EnvironmentVariable{"KMP_HW_SUBSET", "of Intel OpenMP, without effect here"},
    EnvironmentVariable{"KMP_SETTINGS", "the same"},
    EnvironmentVariable{"KMP_LIBRARY", "the same"},
    EnvironmentVariable{"KMP_STACKSIZE", "the same"},
    EnvironmentVariable{"KMP_TPAUSE", "the same"},
    EnvironmentVariable{"ACCELERATE_MIXED_PRECISION", "the format to train in where no flag names one: no, fp16, bf16"},
    EnvironmentVariable{"LD_LIBRARY_PATH", "where libraries are looked for first"},
    EnvironmentVariable{"PYTHONPATH", "where Python scripts find modules"},
    EnvironmentVariable{"LD_PRELOAD", "libraries loaded before all others, such as another malloc"},
    EnvironmentVariable{"CONDA_PREFIX", "where `hearth launch` looks for other mallocs first"},
    EnvironmentVariable{"HWLOC_SYNTHETIC", "a machine described in words, for `hearth launch --dry_run`"},
    EnvironmentVariable{"HWLOC_XMLFILE", "a machine described in a file, for `hearth launch --dry_run`"},
    EnvironmentVariable{"MASTER_ADDR", "the host of rank 0"},
    EnvironmentVariable{"MASTER_PORT", "its port"},
    EnvironmentVariable{"CCL_WORKER_COUNT", "threads of oneCCL per process; `hearth launch` reserves as many cores"},
    EnvironmentVariable{"CCL_WORKER_AFFINITY", "the processors of oneCCL's threads, of all ranks of a host in order"},
    EnvironmentVariable{"HEARTH_JOB_TOKEN", "a random word that the ranks of one job share"},
    EnvironmentVariable{"HEARTH_PROGRESS_PIPE", "the pipe through which `hearth launch` gets a rank's progress bar"},
    EnvironmentVariable{"HEARTH_PLUGIN_PATH", "folders of plug-ins of communication, before those beside the program"},
    EnvironmentVariable{"HEARTH_TAKE_TURNS", "0: ranks of one hardware thread stay on theirs"},
    EnvironmentVariable{"RANK", "this process's number, as torchrun sets it"},
    EnvironmentVariable{"LOCAL_RANK", "its number on this host"},
    EnvironmentVariable{"LOCAL_WORLD_SIZE", "the number of processes on this host"},
    EnvironmentVariable{"PMI_RANK", "this process's number, as MPICH and Intel MPI set it"},
    EnvironmentVariable{"MPI_LOCALRANKID", "its number on this host"},
    EnvironmentVariable{"MPI_LOCALNRANKS", "the number of processes on this host"},
    EnvironmentVariable{"I_MPI_HYDRA_UUID", "set by Intel MPI's launcher alone"},
    EnvironmentVariable{"I_MPI_MPIRUN", "set by Intel MPI's mpirun, whichever launcher it finds"},
    EnvironmentVariable{"OMPI_COMM_WORLD_RANK", "this process's number, as Open MPI sets it"},
    EnvironmentVariable{"OMPI_COMM_WORLD_LOCAL_RANK", "its number on this host"},
    EnvironmentVariable{"OMPI_COMM_WORLD_LOCAL_SIZE", "the number of processes on this host"},
    EnvironmentVariable{"MV2_COMM_WORLD_RANK", "this process's number, as MVAPICH2 sets it"},
    EnvironmentVariable{"MV2_COMM_WORLD_LOCAL_RANK", "its number on this host"},
    EnvironmentVariable{"MV2_COMM_WORLD_LOCAL_SIZE", "the number of processes on this host"},
    EnvironmentVariable{"PMIX_RANK", "this process's number, as launchers with PMIx set it"},
    EnvironmentVariable{"SLURM_STEP_ID", "set where srun started this process"},
    EnvironmentVariable{"SLURM_PROCID", "this process's number, as srun sets it"},
    EnvironmentVariable{"SLURM_NTASKS", "the number of processes, as srun sets it"},
    EnvironmentVariable{"SLURM_LOCALID", "its number on this host"},
    EnvironmentVariable{"SLURM_NODEID", "the number of this host in the step"},
    EnvironmentVariable{"SLURM_STEP_TASKS_PER_NODE", "the numbers of processes on the step's hosts"},
};

}  // namespace

std::span<const EnvironmentVariable> environment_variables() { return kVariables; }

std::string environment(std::string_view name) {
  const auto found = std::ranges::find(kVariables, name, &EnvironmentVariable::name);
  check(found != kVariables.end(), "[environment] {} is not declared", name);
  const char* value = std::getenv(found->name);
  return value == nullptr ? "" : value;
}

std::string with_home(std::string path) { return path.starts_with("~/") ? environment("HOME") + path.substr(1) : path; }

}  // namespace hearth
