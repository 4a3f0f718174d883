#include "hearth/launch/plan/launch_options.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "hearth/base/log.h"
#include "hearth/launch/config/launch_config.h"

namespace hearth::launch {
namespace {

constexpr std::array<std::array<std::string_view, 2>, 3> kShort{
    {{"-q", "--quiet"}, {"-m", "--module"}, {"-t", "--tee"}}};

std::string long_form(const std::string& word) {
  for (const auto& [brief, full] : kShort)
    if (word == brief) return std::string(full);
  return word;
}

using Flags = std::vector<Arguments::Declared>;

// The word after a switch may be the target. A refused flag may be a switch or not, but a script is not its value.
bool is_switch(std::string_view word, std::string_view next, const Flags& flags) {
  std::string name(word.substr(std::min(word.find_first_not_of('-'), word.size())));
  std::ranges::replace(name, '-', '_');
  const auto flag = std::ranges::find(flags, name, &Arguments::Declared::name);
  if (flag == flags.end() || !flag->is_switch) return false;
  return flag->support != Arguments::Support::refused || next.starts_with('-') || next.ends_with(".py");
}

void declare_processes(Arguments& arguments, LaunchOptions& options) {
  arguments.section("Processes");
  arguments
      .add("num_processes", &options.num_processes, "number of processes on all hosts; if not given, one per NUMA node")
      .at_least(1)
      .at_most(kMostProcesses);
  arguments.add("num_machines", &options.num_machines, "number of hosts; each runs the same number of processes")
      .at_least(1)
      .at_most(kMostProcesses);
  arguments.add("machine_rank", &options.machine_rank, "rank of this host, if `hearth launch` is started on every host")
      .at_least(0);
  arguments.add("main_process_ip", &options.main_process_ip, "address of the host of rank 0");
  arguments.add("main_process_port", &options.main_process_port, "port of rank 0; 0: any free port")
      .at_least(0)
      .at_most(65535);
  arguments.add("mpirun", &options.mpirun, "start the processes with mpirun, even on one host");
  arguments.add("mpirun_hostfile", &options.mpirun_hostfile, "file of hosts for mpirun, one per line");
  arguments.add("mpirun_ccl", &options.mpirun_ccl, "oneCCL worker threads per process under mpirun")
      .at_least(0)
      .at_most(kMostProcesses);
}

void declare_placement(Arguments& arguments, LaunchOptions& options) {
  arguments.section("Cores");
  arguments
      .add("num_cpu_threads_per_process", &options.num_cpu_threads_per_process, "threads per process (OMP_NUM_THREADS)")
      .at_least(1);
  arguments.add("ninstances", &options.ninstances, "number of processes on this host, as in ipexrun")
      .at_least(1)
      .at_most(kMostProcesses);
  arguments.add("ncores_per_instance", &options.ncores_per_instance, "compute cores per process")
      .at_least(1)
      .at_most(kMostProcesses);
  arguments.add("nodes_list", &options.nodes_list, "NUMA nodes to use: 0,2-3");
  arguments.add("cores_list", &options.cores_list, "hardware threads to use: 0-15");
  arguments.add("use_logical_cores", &options.use_logical_cores,
                "one thread per hardware thread instead of one per core");
  arguments.add("ccl_worker_count", &options.ccl_worker_count, "cores per process reserved for communication")
      .at_least(0)
      .at_most(kMostProcesses);
  arguments.add("enable_cpu_affinity", &options.enable_cpu_affinity,
                "passed to scripts; processes are always pinned to their cores");
  arguments.add("memory_allocator", choice(&options.memory_allocator), "malloc implementation to preload");
}

void declare_script(Arguments& arguments, LaunchOptions& options) {
  arguments.section("Target");
  arguments.add("module", &options.module, "TARGET is a Python module; also -m");
  arguments.add("no_python", &options.no_python, "TARGET is a program, whatever its name");
  arguments.add("cpu", &options.cpu, "train on the CPU; always so");
  arguments.add("ipex", &options.ipex, "passed to scripts as ACCELERATE_USE_IPEX");
  arguments
      .add("mixed_precision", &options.mixed_precision,
           "mixed precision for commands without --fp16 or --bf16; also passed to scripts")
      .choices({"no", "fp16", "bf16"});
  arguments.add("dynamo_backend", &options.dynamo_backend, "passed to scripts as ACCELERATE_DYNAMO_BACKEND");
  arguments.add("dynamo_mode", &options.dynamo_mode, "passed to scripts as ACCELERATE_DYNAMO_MODE");
  arguments.add("dynamo_use_fullgraph", &options.dynamo_use_fullgraph,
                "passed to scripts as ACCELERATE_DYNAMO_USE_FULLGRAPH");
  arguments.add("dynamo_use_dynamic", &options.dynamo_use_dynamic,
                "passed to scripts as ACCELERATE_DYNAMO_USE_DYNAMIC");
  arguments.add("dynamo_use_regional_compilation", &options.dynamo_use_regional_compilation,
                "passed to scripts as ACCELERATE_DYNAMO_USE_REGIONAL_COMPILATION");
}

void declare_supervision(Arguments& arguments, LaunchOptions& options) {
  arguments.section("Supervision");
  arguments.add("max_restarts", &options.max_restarts, "restart all processes at most N times after a failure")
      .at_least(0);
  arguments
      .add("grace_period", &options.grace_period,
           "seconds that the processes have to save a checkpoint after a signal, before they are killed")
      .at_least(0)
      .at_most(1'000'000);
  arguments.add("log_dir", &options.log_dir,
                "folder for the output of each rank: rank_N.stdout.log, rank_N.stderr.log");
  arguments.add("tee", &options.tee,
                "output that also goes to the terminal: 0 none, 1 stdout, 2 stderr, 3 both; 0:3,1:2 by rank; also -t");
  arguments.add("quiet", &options.quiet, "do not print the launch plan; also -q");
  arguments.add("debug", &options.debug, "passed to scripts as ACCELERATE_DEBUG_MODE");
  arguments.add("dry_run", &options.dry_run, "print the launch plan and start nothing");
}

void declare_foreign(Arguments& arguments) {
  arguments.ignored({"monitor_interval"}, "the end of a process is noticed at once");
  constexpr std::string_view kRendezvous = "processes always meet at --main_process_ip and --main_process_port";
  arguments.ignored_switches({"same_network"}, kRendezvous);
  arguments.ignored({"rdzv_backend", "rdzv_conf", "role"}, kRendezvous);
  arguments.refused({"multi_gpu", "tpu", "use_xpu", "gpu_ids", "use_deepspeed", "deepspeed_config_file", "use_fsdp",
                     "use_megatron_lm", "use_parallelism_config", "tpu_use_cluster", "tpu_use_sudo", "vm", "env",
                     "downcast_bf16", "fp8_backend", "aws_access_key_id", "aws_secret_access_key"},
                    "is for accelerators or a cloud service, but Hearth trains on CPUs; leave it out");
}

}  // namespace

LaunchWords split_launch_words(std::span<const std::string> words, const std::vector<Arguments::Declared>& flags) {
  LaunchWords result;
  std::size_t& target = result.target;
  while (target < words.size() && words[target].size() > 1 && words[target][0] == '-') {
    const std::size_t first = target++;
    if (words[first] == "--") break;
    std::string flag = long_form(words[first]);
    if (flag != "-h" && flag != "--help" && flag.find('=') == flag.npos) {
      const std::string_view next = target < words.size() ? std::string_view(words[target]) : "";
      if (is_switch(flag, next, flags)) {
        flag += "=True";  // or it would take a target called "true"
      } else if (target < words.size()) {
        flag += "=" + words[target++];
      }
    }
    result.flags.push_back({first, target - first, std::move(flag)});
  }
  return result;
}

void declare(Arguments& arguments, LaunchOptions& options) {
  arguments.forbid_abbreviations();
  arguments.add("config_file", &options.config_file, "configuration file of `hearth config`, if not the default one");
  arguments.add("no_config_file", &options.no_config_file, "read no configuration file");
  declare_processes(arguments, options);
  declare_placement(arguments, options);
  declare_supervision(arguments, options);
  declare_script(arguments, options);
  declare_foreign(arguments);
}

LaunchOptions parse_launch_options(std::span<const std::string> words) {
  LaunchOptions options;
  Arguments arguments("hearth launch [flags]",
                      "Runs TARGET, with its arguments, in one or more processes, each pinned to its own cores.\n"
                      "TARGET is a command of hearth (run_qa), a Python script (x.py), or any program.");
  arguments.examples({"hearth launch --num_processes 2 run_qa options.yaml",
                      "hearth launch --dry_run --num_processes 4 train.py --lr 3e-5",
                      "hearth launch --num_machines 2 --mpirun_hostfile hosts --num_processes 4 run_qa options.yaml"});
  arguments
      .positional("TARGET", &options.target, "command, script or program to run; the words after it are its arguments")
      .required();
  declare(arguments, options);
  const auto [flags, target] = split_launch_words(words, arguments.declared());
  std::vector<std::string> own;
  for (const LaunchWords::Flag& flag : flags) own.push_back(flag.word);
  if (target < words.size()) {
    options.target_arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(target) + 1, words.end());
    own.push_back(words[target]);
  }
  arguments.parse(own);
  if (arguments.wants_help()) {
    options.help = arguments.help();
  } else {
    for (const std::string& notice : arguments.notices()) log_info("{}", notice);
  }
  return options;
}

}  // namespace hearth::launch
