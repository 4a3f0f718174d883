#include "hearth/migrate/old_launchers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hearth::migrate {
namespace {

// What becomes of a flag of a launcher. `becomes` is a flag of `hearth launch`, with or without a value of its own;
// empty: the flag is left out for this reason.
struct Row {
  std::string_view name;
  bool takes_value;
  std::string_view becomes, reason;
};

constexpr std::string_view kMeet = "processes meet at --main_process_ip and --main_process_port";
constexpr std::string_view kPinned = "ranks are pinned to cores and NUMA nodes without it";
constexpr std::string_view kOpenMp = "Hearth has compute threads of its own";
constexpr std::string_view kDefault = "it is the default";

// nnodes, nproc_per_node and rdzv_endpoint are computed with.
constexpr std::array kTorchrun{
    Row{"node_rank", true, "--machine_rank", ""},
    Row{"master_addr", true, "--main_process_ip", ""},
    Row{"master_port", true, "--main_process_port", ""},
    Row{"max_restarts", true, "--max_restarts", ""},
    Row{"log_dir", true, "--log_dir", ""},
    Row{"tee", true, "--tee", ""},
    Row{"t", true, "--tee", ""},
    Row{"module", false, "--module", ""},
    Row{"m", false, "--module", ""},
    Row{"no_python", false, "--no_python", ""},
    Row{"standalone", false, "", kMeet},
    Row{"rdzv_backend", true, "", kMeet},
    Row{"rdzv_id", true, "", kMeet},
    Row{"rdzv_conf", true, "", kMeet},
    Row{"local_addr", true, "", kMeet},
    Row{"use_env", false, "", kDefault},
    Row{"monitor_interval", true, "", "the end of a process is noticed at once"},
    Row{"start_method", true, "", "ranks are programs of their own"},
    Row{"role", true, "", "ranks have numbers only"},
};

// Names of IPEX 1.10 to 2.x, and of torch.backends.xeon.run_cpu.
constexpr std::array kIpexrun{
    Row{"hostfile", true, "--mpirun_hostfile", ""},
    Row{"master_addr", true, "--main_process_ip", ""},
    Row{"master_port", true, "--main_process_port", ""},
    Row{"ccl_worker_count", true, "--ccl_worker_count", ""},
    Row{"ninstances", true, "--ninstances", ""},
    Row{"ncores_per_instance", true, "--ncores_per_instance", ""},
    Row{"ncore_per_instance", true, "--ncores_per_instance", ""},
    Row{"nodes_list", true, "--nodes_list", ""},
    Row{"node_id", true, "--nodes_list", ""},
    Row{"cores_list", true, "--cores_list", ""},
    Row{"core_list", true, "--cores_list", ""},
    Row{"use_logical_cores", false, "--use_logical_cores", ""},
    Row{"use_logical_core", false, "--use_logical_cores", ""},
    Row{"memory_allocator", true, "--memory_allocator", ""},
    Row{"enable_tcmalloc", false, "--memory_allocator tcmalloc", ""},
    Row{"enable_jemalloc", false, "--memory_allocator jemalloc", ""},
    Row{"use_default_allocator", false, "", kDefault},
    Row{"log_dir", true, "--log_dir", ""},
    Row{"log_path", true, "--log_dir", ""},
    Row{"module", false, "--module", ""},
    Row{"m", false, "--module", ""},
    Row{"no_python", false, "--no_python", ""},
    Row{"distributed", false, "", "several processes are always ranks of one job"},
    Row{"multi_instance", false, "", "several processes are always ranks of one job"},
    Row{"throughput_mode", false, "", "one rank per NUMA node is the default"},
    Row{"disable_numactl", false, "", kPinned},
    Row{"disable_taskset", false, "", kPinned},
    Row{"multi_task_manager", true, "", kPinned},
    Row{"skip_cross_node_cores", false, "", kPinned},
    Row{"disable_iomp", false, "", kOpenMp},
    Row{"omp_runtime", true, "", kOpenMp},
    Row{"auto_ipex", false, "", "Hearth's own optimized kernels are always used"},
    Row{"verbose", false, "", "the launch plan is always printed"},
};

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 7 && text.find_first_not_of("0123456789") == text.npos;
}

class Translation {
 public:
  Translation(std::span<const Row> rows, std::string_view launcher) : rows_(rows), launcher_(launcher) {}

  NewLaunch of(std::span<const OldWord> words, std::span<const std::string> typed) {
    std::size_t& i = result_.target;
    while (i < words.size() && words[i].value.size() > 1 && words[i].value.starts_with('-')) {
      const std::string& word = words[i].value;
      const std::string name = flag_name(word);
      const std::size_t equals = typed[i].find('=');
      ++i;
      if (word == "--") break;
      std::string value;
      if (equals != typed[i - 1].npos) {
        value = typed[i - 1].substr(equals + 1);
      } else if (takes_value(name, i < words.size() ? words[i].value : "")) {
        if (i < words.size()) value = typed[i++];
      }
      take(name, value);
    }
    add_sizes();
    return std::move(result_);
  }

 private:
  static bool is_size(std::string_view name) {
    return name == "nnodes" || name == "nproc_per_node" || name == "nprocs_per_node" || name == "rdzv_endpoint";
  }

  bool takes_value(std::string_view name, std::string_view next) const {
    if (is_size(name)) return true;
    const auto row = std::ranges::find(rows_, name, &Row::name);
    return row != rows_.end() ? row->takes_value : !next.starts_with('-') && !next.ends_with(".py");
  }

  void add(std::string_view flag, std::string_view value) {
    result_.words.emplace_back(flag);
    if (!value.empty()) result_.words.emplace_back(value);
  }

  void take(const std::string& name, const std::string& value) {
    if (name == "nnodes") {
      machines_ = value;
    } else if (is_size(name) && name != "rdzv_endpoint") {
      per_machine_ = value;
    } else if (name == "rdzv_endpoint") {
      const std::size_t colon = value.rfind(':');
      add("--main_process_ip", value.substr(0, colon));
      if (colon != value.npos) add("--main_process_port", value.substr(colon + 1));
    } else {
      take_row(name, value);
    }
  }

  void take_row(const std::string& name, const std::string& value) {
    const auto row = std::ranges::find(rows_, name, &Row::name);
    if (row == rows_.end()) {
      result_.is_complete = false;
      result_.remarks.push_back(
          fmt::format("left out: `hearth launch` has no counterpart of {}'s --{}", launcher_, name));
    } else if (row->becomes.empty()) {
      result_.remarks.push_back(fmt::format("left out: {}'s --{} has no effect: {}", launcher_, name, row->reason));
    } else {
      add(row->becomes, value);
    }
  }

  // The number of processes is that of all machines.
  void add_sizes() {
    const bool is_elastic = machines_.find(':') != machines_.npos;
    if (is_elastic) {
      result_.is_complete = false;
      result_.remarks.push_back(
          fmt::format("left out: --nnodes {}: the number of hosts of a job is fixed; give --num_machines", machines_));
      machines_.clear();
    }
    if (!machines_.empty() && machines_ != "1") add("--num_machines", machines_);
    if (per_machine_ == "auto" || per_machine_ == "cpu" || per_machine_ == "gpu") {
      result_.remarks.push_back(
          fmt::format("left out: --nproc_per_node {}: one rank per NUMA node is the default", per_machine_));
    } else if (!per_machine_.empty()) {
      add("--num_processes", machines_.empty() || machines_ == "1" ? per_machine_ : product(machines_, per_machine_));
    }
  }

  static std::string product(const std::string& a, const std::string& b) {
    if (is_number(a) && is_number(b)) return fmt::format("{}", std::stoll(a) * std::stoll(b));
    return fmt::format("$(({} * {}))", a, b);
  }

  std::span<const Row> rows_;
  std::string_view launcher_;
  NewLaunch result_;
  std::string machines_, per_machine_;
};

}  // namespace

std::optional<OldLauncher> launcher_of_module(std::string_view module) {
  if (module == "torch.distributed.run" || module == "torch.distributed.launch") return OldLauncher::torchrun;
  if (module.starts_with("intel_extension_for_pytorch.") && module.ends_with("launch")) return OldLauncher::ipexrun;
  return module == "torch.backends.xeon.run_cpu" ? std::optional(OldLauncher::ipexrun) : std::nullopt;
}

NewLaunch translate_launcher(OldLauncher launcher, std::span<const OldWord> words, std::span<const std::string> typed) {
  const bool is_torchrun = launcher == OldLauncher::torchrun;
  return Translation(is_torchrun ? std::span<const Row>(kTorchrun) : std::span<const Row>(kIpexrun),
                     is_torchrun ? "torchrun" : "ipexrun")
      .of(words, typed);
}

}  // namespace hearth::migrate
