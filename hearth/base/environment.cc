#include "hearth/base/environment.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "hearth/base/check.h"

namespace hearth {
namespace {

constexpr std::array kVariables{
    EnvironmentVariable{"HEARTH_MAX_ISA", "highest instruction set to use, as --max_isa"},
    EnvironmentVariable{"HEARTH_CACHE", "folder of prepared data; ~/.cache/hearth if not set"},
    EnvironmentVariable{"HEARTH_CACHE_LIMIT", "GiB that prepared data may take; 10 if not set"},
    EnvironmentVariable{"HEARTH_MEMORY_CHECK", "0: train even if memory is estimated not to suffice"},
    EnvironmentVariable{"OMP_NUM_THREADS", "number of threads per process; if not set, one per core"},
    EnvironmentVariable{"OMP_PROC_BIND", "whether and how threads are bound to processors"},
    EnvironmentVariable{"OMP_PLACES", "processors that threads are bound to"},
    EnvironmentVariable{"GOMP_CPU_AFFINITY", "processors that threads are bound to, as GNU OpenMP reads them"},
    EnvironmentVariable{"ONEDNN_MAX_CPU_ISA",
                        "highest instruction set of oneDNN; Hearth replaces it with the level that it uses itself"},
    EnvironmentVariable{"WORLD_SIZE", "number of processes, set by torchrun"},
    EnvironmentVariable{"PMI_SIZE", "number of processes, set by MPICH and Intel MPI"},
    EnvironmentVariable{"OMPI_COMM_WORLD_SIZE", "number of processes, set by Open MPI"},
    EnvironmentVariable{"MV2_COMM_WORLD_SIZE", "number of processes, set by MVAPICH2"},
    EnvironmentVariable{"HF_HUB_CACHE", "folder of models downloaded from the Hub; $HF_HOME/hub if not set"},
    EnvironmentVariable{"HUGGINGFACE_HUB_CACHE", "older name of HF_HUB_CACHE"},
    EnvironmentVariable{"TRANSFORMERS_CACHE", "oldest name of HF_HUB_CACHE; overrides it, as in transformers"},
    EnvironmentVariable{"HF_ENDPOINT", "address of the Hub; https://huggingface.co if not set"},
    EnvironmentVariable{"HF_HUB_OFFLINE", "1: nothing is downloaded, only the Hub's cache is used"},
    EnvironmentVariable{"TRANSFORMERS_OFFLINE", "older name of HF_HUB_OFFLINE"},
    EnvironmentVariable{"HF_DATASETS_OFFLINE", "HF_HUB_OFFLINE for data sets alone"},
    EnvironmentVariable{"HF_TOKEN", "token for the Hub, as --token"},
    EnvironmentVariable{"HUGGING_FACE_HUB_TOKEN", "older name of HF_TOKEN"},
    EnvironmentVariable{"HF_TOKEN_PATH", "file with the Hub's token; $HF_HOME/token if not set"},
    EnvironmentVariable{"REQUESTS_CA_BUNDLE", "certificates that the Hub's own is checked against"},
    EnvironmentVariable{"CURL_CA_BUNDLE", "the same, if REQUESTS_CA_BUNDLE is not set"},
    EnvironmentVariable{"SSL_CERT_FILE", "the same, if neither of those is set"},
    EnvironmentVariable{"SSL_CERT_DIR", "folder of certificates, if none of those is set"},
    EnvironmentVariable{"https_proxy", "proxy for the Hub, also HTTPS_PROXY; read by libcurl"},
    EnvironmentVariable{"no_proxy", "hosts that are reached without a proxy, also NO_PROXY; read by libcurl"},
    EnvironmentVariable{"HF_HOME", "folder of Hugging Face files; ~/.cache/huggingface if not set"},
    EnvironmentVariable{"XDG_CACHE_HOME", "folder of all caches; ~/.cache if not set"},
    EnvironmentVariable{"XDG_STATE_HOME", "folder of hearth/ask_history; ~/.local/state if not set"},
    EnvironmentVariable{"HOME", "home folder"},
    EnvironmentVariable{"COLUMNS", "width of the terminal, if the terminal does not tell it"},
    EnvironmentVariable{"NO_COLOR", "any value: no colors"},
    EnvironmentVariable{"TERM", "kind of terminal; dumb: no progress bar and no colors"},
    EnvironmentVariable{"OMP_WAIT_POLICY",
                        "how compute threads wait: passive, they sleep at once; active, they spin for seconds"},
    EnvironmentVariable{"KMP_AFFINITY", "Intel OpenMP's thread binding; `hearth launch` translates it"},
    EnvironmentVariable{"KMP_BLOCKTIME", "how long Intel OpenMP's threads spin; `hearth launch` translates it"},
    EnvironmentVariable{"KMP_HW_SUBSET", "Intel OpenMP's; no effect here"},
    EnvironmentVariable{"KMP_SETTINGS", "Intel OpenMP's; no effect here"},
    EnvironmentVariable{"KMP_LIBRARY", "Intel OpenMP's; no effect here"},
    EnvironmentVariable{"KMP_STACKSIZE", "Intel OpenMP's; no effect here"},
    EnvironmentVariable{"KMP_TPAUSE", "Intel OpenMP's; no effect here"},
    EnvironmentVariable{"ACCELERATE_MIXED_PRECISION", "the dtype to train in, unless a flag names one: no, fp16, bf16"},
    EnvironmentVariable{"LD_LIBRARY_PATH", "folders searched first for shared libraries"},
    EnvironmentVariable{"PYTHONPATH", "folders searched first for Python modules"},
    EnvironmentVariable{"LD_PRELOAD", "libraries loaded before all others, such as another malloc"},
    EnvironmentVariable{"CONDA_PREFIX", "folder in which `hearth launch` looks for other mallocs first"},
    EnvironmentVariable{"HWLOC_SYNTHETIC", "description of a machine, for `hearth launch --dry_run`"},
    EnvironmentVariable{"HWLOC_XMLFILE", "file that describes a machine, for `hearth launch --dry_run`"},
    EnvironmentVariable{"MASTER_ADDR", "host of rank 0"},
    EnvironmentVariable{"MASTER_PORT", "port of rank 0"},
    EnvironmentVariable{"CCL_WORKER_COUNT", "oneCCL's threads per process; `hearth launch` reserves as many cores"},
    EnvironmentVariable{"CCL_WORKER_AFFINITY", "processors of oneCCL's threads, for all ranks of a host in order"},
    EnvironmentVariable{"HEARTH_JOB_TOKEN", "random word that the ranks of one job share, set by `hearth launch`"},
    EnvironmentVariable{"HEARTH_PROGRESS_PIPE", "pipe for a rank's progress bar, set by `hearth launch`"},
    EnvironmentVariable{"HEARTH_PLUGIN_PATH", "folders searched first for communication plug-ins"},
    EnvironmentVariable{"HEARTH_TAKE_TURNS", "0: ranks of one host stay on the hardware threads that they were given"},
    EnvironmentVariable{"RANK", "rank of this process, set by torchrun"},
    EnvironmentVariable{"LOCAL_RANK", "rank on this host, set by torchrun"},
    EnvironmentVariable{"LOCAL_WORLD_SIZE", "number of processes on this host, set by torchrun"},
    EnvironmentVariable{"PMI_RANK", "rank of this process, set by MPICH and Intel MPI"},
    EnvironmentVariable{"MPI_LOCALRANKID", "rank on this host, set by MPICH and Intel MPI"},
    EnvironmentVariable{"MPI_LOCALNRANKS", "number of processes on this host, set by MPICH and Intel MPI"},
    EnvironmentVariable{"I_MPI_HYDRA_UUID", "set only by Intel MPI's launcher"},
    EnvironmentVariable{"I_MPI_MPIRUN", "set by Intel MPI's mpirun, whichever launcher it finds"},
    EnvironmentVariable{"OMPI_COMM_WORLD_RANK", "rank of this process, set by Open MPI"},
    EnvironmentVariable{"OMPI_COMM_WORLD_LOCAL_RANK", "rank on this host, set by Open MPI"},
    EnvironmentVariable{"OMPI_COMM_WORLD_LOCAL_SIZE", "number of processes on this host, set by Open MPI"},
    EnvironmentVariable{"MV2_COMM_WORLD_RANK", "rank of this process, set by MVAPICH2"},
    EnvironmentVariable{"MV2_COMM_WORLD_LOCAL_RANK", "rank on this host, set by MVAPICH2"},
    EnvironmentVariable{"MV2_COMM_WORLD_LOCAL_SIZE", "number of processes on this host, set by MVAPICH2"},
    EnvironmentVariable{"PMIX_RANK", "rank of this process, set by launchers with PMIx"},
    EnvironmentVariable{"SLURM_STEP_ID", "set if srun started this process"},
    EnvironmentVariable{"SLURM_PROCID", "rank of this process, set by srun"},
    EnvironmentVariable{"SLURM_NTASKS", "number of processes, set by srun"},
    EnvironmentVariable{"SLURM_LOCALID", "rank on this host, set by srun"},
    EnvironmentVariable{"SLURM_NODEID", "number of this host in the job step, set by srun"},
    EnvironmentVariable{"SLURM_STEP_TASKS_PER_NODE", "numbers of processes on the hosts of the job step, set by srun"},
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
