#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace hearth::launch {

inline constexpr std::int64_t kMostProcesses = 65'536;  // of one job; also of machines, cores and worker threads

// The file that `hearth config` writes and `hearth launch` reads: the CPU part of Accelerate's launch file. Members are
// named like its keys; those of the inner tables (ipex_config, mpirun_config, dynamo_config) are members, too.
struct LaunchConfig {
  bool debug = false;
  std::string distributed_type = "NO";  // or MULTI_CPU
  bool enable_cpu_affinity = false;
  std::int64_t machine_rank = 0;
  std::optional<std::string> main_process_ip;
  std::optional<std::int64_t> main_process_port;
  std::string main_training_function = "main";
  std::string mixed_precision = "no";  // fp16, bf16
  std::int64_t num_machines = 1;
  std::optional<std::int64_t> num_processes = 1;  // empty: a MULTI_CPU file without it
  std::string rdzv_backend = "static";
  bool same_network = true;
  bool use_cpu = false;

  bool ipex = false;

  std::optional<std::string> mpirun_hostfile;  // set: ranks are started by mpirun
  std::int64_t mpirun_ccl = 1;                 // oneCCL worker threads per rank

  std::optional<std::string> dynamo_backend;  // INDUCTOR for example; for Python scripts
  std::optional<std::string> dynamo_mode;     // empty, as the next three: torch.compile's own default
  std::optional<bool> dynamo_use_dynamic;
  std::optional<bool> dynamo_use_fullgraph;
  std::optional<bool> dynamo_use_regional_compilation;
};

// $HF_HOME/accelerate/default_config.yaml; $XDG_CACHE_HOME/huggingface or ~/.cache/huggingface where HF_HOME is not
// set.
std::filesystem::path default_config_path();

// Reads YAML, or JSON if the name ends in .json. Keys of earlier versions of Accelerate are converted. Unknown keys,
// and keys that ask for GPUs and other devices, are an Error that names them.
LaunchConfig read_launch_config(const std::filesystem::path& path);
// Writes the same keys as Accelerate, and replaces the file atomically.
void write_launch_config(const LaunchConfig& config, const std::filesystem::path& path);

}  // namespace hearth::launch
