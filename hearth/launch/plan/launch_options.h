#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearth/base/arguments.h"
#include "hearth/launch/place/memory_allocator.h"

namespace hearth::launch {

// The flags of `hearth launch`: Accelerate's for CPUs, those of IPEX's launcher for cores, and --mpirun, --dry_run,
// --no_config_file. Empty, false: not given.
struct LaunchOptions {
  std::optional<std::string> config_file;
  bool no_config_file = false;
  bool quiet = false, dry_run = false, debug = false;

  bool cpu = false, ipex = false;
  std::optional<std::string> mixed_precision;
  std::optional<std::string> dynamo_backend, dynamo_mode;
  bool dynamo_use_fullgraph = false, dynamo_use_dynamic = false, dynamo_use_regional_compilation = false;

  std::optional<std::int64_t> num_processes, num_machines, machine_rank, num_cpu_threads_per_process;
  std::optional<std::string> main_process_ip;
  std::optional<std::int64_t> main_process_port;
  bool mpirun = false;
  std::optional<std::string> mpirun_hostfile;
  std::optional<std::int64_t> mpirun_ccl;

  std::optional<std::int64_t> ncores_per_instance, ninstances, ccl_worker_count;
  std::optional<std::string> nodes_list, cores_list;
  bool use_logical_cores = false, enable_cpu_affinity = false;
  MemoryAllocator memory_allocator = MemoryAllocator::standard;

  std::int64_t max_restarts = 0, grace_period = 300;
  std::optional<std::string> log_dir;
  std::string tee = "3";

  bool module = false, no_python = false;
  std::string target;
  std::vector<std::string> target_arguments;

  std::optional<std::string> help;  // asked for: nothing else counts
};

LaunchOptions parse_launch_options(std::span<const std::string> words);

// The flags alone, without TARGET.
void declare(Arguments& arguments, LaunchOptions& options);

// The words of a command line: the launcher's own flags, and the index of the first word after them, TARGET.
struct LaunchWords {
  struct Flag {
    std::size_t first = 0, count = 1;  // its words: the flag and its value
    std::string word;                  // in its long form, with its value: --num_processes=2
  };
  std::vector<Flag> flags;
  std::size_t target = 0;
};
LaunchWords split_launch_words(std::span<const std::string> words, const std::vector<Arguments::Declared>& flags);

}  // namespace hearth::launch
