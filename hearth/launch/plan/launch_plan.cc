#include "hearth/launch/plan/launch_plan.h"

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/cpu/parallel.h"
#include "hearth/launch/place/cpu_list.h"
#include "hearth/launch/place/openmp_settings.h"
#include "hearth/launch/place/started_rank.h"
#include "hearth/launch/plan/hostfile.h"
#include "hearth/launch/plan/ports.h"
#include "hearth/launch/start/user_environment.h"

namespace hearth::launch {
namespace {

const std::string kHere = "127.0.0.1";

class Planner {
 public:
  Planner(const LaunchOptions& options, const ConfigSource& file, const comm::World& world)
      : options_(options), file_(file) {
    plan_.world = world;
  }

  LaunchPlan plan() {
    // A single process started by hand or by srun may spawn ranks. One started by mpirun may not: its children would
    // inherit the MPI variables.
    using comm::Launcher;
    const Launcher launcher = plan_.world.launcher;
    const bool by_mpi = launcher != Launcher::none && launcher != Launcher::environment && launcher != Launcher::slurm;
    const bool exists = by_mpi || plan_.world.size > 1;
    if (!exists) choose_way();
    choose_communication();
    choose_cores();
    if (exists) {
      join_world();
    } else {
      count_processes();
    }
    place_ranks();
    choose_meeting_point();
    plan_.script = script_settings(options_, file_, plan_.decisions);
    explain_kmp_variables(plan_.decisions);
    return std::move(plan_);
  }

 private:
  std::string_view launcher() const { return name_of(plan_.world.launcher); }

  void join_world() {
    plan_.method = StartMethod::existing_world;
    if (options_.log_dir || options_.max_restarts > 0)
      warn("--log_dir and --max_restarts have no effect on ranks that another launcher ({}) has started", launcher());
    plan_.num_processes = plan_.world.size;
    plan_.local_processes = plan_.world.local_size;
    const std::string found = fmt::format("this is rank {} of a job started by {}", plan_.world.rank, launcher());
    plan_.decisions.note("num_processes", std::to_string(plan_.num_processes), found + ": one process is started");
    check(!options_.num_processes || *options_.num_processes == plan_.world.size,
          "--num_processes {}, but this job was started with {} processes ({}): leave the flag out, or start that many",
          options_.num_processes.value_or(0), plan_.world.size, launcher());
    if (const auto wanted = file_.get(&LaunchConfig::num_processes); wanted && *wanted != plan_.world.size)
      warn("{} says num_processes: {}, but this job was started with {} processes ({}), which is used", file_.path(),
           *wanted, plan_.world.size, launcher());
  }

  void choose_way() {
    const bool asked = options_.mpirun || options_.mpirun_ccl;
    plan_.hostfile = plan_.decisions.choose<std::string>(
        "mpirun_hostfile",
        {{options_.mpirun_hostfile, "--mpirun_hostfile"}, {file_.get(&LaunchConfig::mpirun_hostfile), file_.path()}});
    if (plan_.hostfile) hosts_ = read_hostfile(*plan_.hostfile);
    if (!asked && !plan_.hostfile) return;
    plan_.method = StartMethod::mpirun;
    plan_.decisions.note("started by", "mpirun", plan_.hostfile ? "a hostfile is given" : "--mpirun or --mpirun_ccl");
  }

  void count_processes() {
    const auto here = plan_.hostfile ? std::optional(static_cast<std::int64_t>(hosts_.size())) : std::nullopt;
    const std::int64_t machines =
        plan_.decisions
            .choose<std::int64_t>("num_machines", {{options_.num_machines, "--num_machines"},
                                                   {file_.get(&LaunchConfig::num_machines), file_.path()},
                                                   {here, "the hosts of the hostfile"},
                                                   {1, "by default"}})
            .value();
    check(!here || *here >= machines,
          "{} names {} host(s), but --num_machines is {}: add hosts, or lower --num_machines",
          plan_.hostfile.value_or(""), hosts_.size(), machines);
    const std::vector<cpu::NumaNode> nodes = chosen_nodes(machine_, plan_.request);
    const auto by_cores =
        options_.ncores_per_instance ? std::optional(ranks_that_fit(nodes, plan_.request) * machines) : std::nullopt;
    const auto instances = options_.ninstances ? std::optional(*options_.ninstances * machines) : std::nullopt;
    const std::int64_t processes =
        plan_.decisions
            .choose<std::int64_t>(
                "num_processes", {{options_.num_processes, "--num_processes"},
                                  {instances, "--ninstances"},
                                  {by_cores, "as many as fit with --ncores_per_instance"},
                                  {processes_of_file(machines), file_.path()},
                                  {static_cast<std::int64_t>(nodes.size()) * machines, "by default one per NUMA node"}})
            .value();
    check(processes % machines == 0,
          "{} processes do not divide evenly among {} machines: change --num_processes or --num_machines", processes,
          machines);
    check(processes <= kMostProcesses && processes > 0, "--num_processes {} must be between 1 and {}", processes,
          kMostProcesses);
    plan_.num_processes = static_cast<int>(processes);
    plan_.num_machines = static_cast<int>(machines);
    plan_.local_processes = plan_.num_processes / plan_.num_machines;
    if (plan_.method != StartMethod::mpirun) choose_machine();
  }

  // `distributed_type: NO` overrides `num_processes` from the same file unless a flag asks for several processes.
  std::optional<std::int64_t> processes_of_file(std::int64_t machines) {
    const auto number = file_.get(&LaunchConfig::num_processes);
    const bool one =
        file_.get(&LaunchConfig::distributed_type) == "NO" && plan_.method != StartMethod::mpirun && machines == 1;
    const bool asked = options_.num_processes || options_.ninstances || options_.ncores_per_instance;
    if (!one || asked || number.value_or(1) <= 1) return number;
    warn(
        "{} says num_processes: {}, but also distributed_type: NO, so one process is started; use distributed_type: "
        "MULTI_CPU to start several",
        file_.path(), *number);
    return 1;
  }

  void choose_machine() {
    const std::int64_t number =
        plan_.decisions
            .choose<std::int64_t>("machine_rank", {{options_.machine_rank, "--machine_rank"},
                                                   {file_.get(&LaunchConfig::machine_rank), file_.path()},
                                                   {0, "by default"}})
            .value();
    check(number < plan_.num_machines, "--machine_rank {}: the rank of one of {} machine(s) is between 0 and {}",
          number, plan_.num_machines, plan_.num_machines - 1);
    plan_.machine_rank = static_cast<int>(number);
    const bool supervised = options_.log_dir || options_.max_restarts > 0;
    plan_.method = plan_.num_processes == 1 && !supervised ? StartMethod::one_process : StartMethod::processes;
  }

  void choose_communication() {
    const auto none = std::optional<std::int64_t>();
    plan_.communication_threads = plan_.decisions.choose<std::int64_t>(
        "ccl_worker_count", {{options_.ccl_worker_count, "--ccl_worker_count"},
                             {options_.mpirun_ccl, "--mpirun_ccl"},
                             {plan_.hostfile ? file_.get(&LaunchConfig::mpirun_ccl) : none, file_.path()},
                             {number_in_environment("CCL_WORKER_COUNT"), "CCL_WORKER_COUNT"},
                             {plan_.hostfile ? std::optional<std::int64_t>(1) : none, "by default with a hostfile"}});
  }

  void choose_cores() {
    PlacementRequest& request = plan_.request;
    request.cores_per_rank = options_.ncores_per_instance;
    request.use_logical_cores = options_.use_logical_cores;
    request.threads = plan_.decisions.choose<std::int64_t>(
        "num_cpu_threads_per_process", {{options_.num_cpu_threads_per_process, "--num_cpu_threads_per_process"},
                                        {number_in_environment("OMP_NUM_THREADS"), "OMP_NUM_THREADS"}});
    if (request.threads == 0) request.threads.reset();
    check(request.threads.value_or(0) <= cpu::kMostThreads, "{} threads per process are too many: the limit is {}",
          request.threads.value_or(0), cpu::kMostThreads);
    if (options_.nodes_list) request.nodes = parse_cpu_list(*options_.nodes_list, "--nodes_list");
    if (options_.cores_list) request.processors = parse_cpu_list(*options_.cores_list, "--cores_list");
    request.communication_cores = plan_.communication_threads.value_or(0);
    request.communication_processors = communication_affinity();
  }

  void place_ranks() {
    PlacementRequest& request = plan_.request;
    request.ranks = plan_.local_processes;
    if (plan_.num_processes == 1) request.communication_cores = 0;
    if (plan_.method == StartMethod::existing_world) {
      StartedRank started = place_started_rank(plan_.world.local_rank, request);
      plan_.placement = {std::move(started.placement)};
      plan_.communication_processors = std::move(started.communication_processors);
      for (const std::string& warning : started.warnings) warn("{}", warning);
    } else {
      Placement placement = place(machine_, request);
      plan_.placement = std::move(placement.ranks);
      plan_.communication_processors = communication_processors(plan_.placement);
      const bool ranks_will_say_it = plan_.method == StartMethod::mpirun && !options_.dry_run;
      for (const std::string& warning : placement.warnings)
        if (!ranks_will_say_it) warn("{}", warning);
    }
    if (!request.threads)
      plan_.decisions.note("num_cpu_threads_per_process", std::to_string(plan_.placement.front().threads),
                           machine_.processor_quota ? "one per core, limited by the CPU quota of this control group"
                                                    : "one per core of the process");
  }

  void choose_meeting_point() {
    Decisions& decisions = plan_.decisions;
    const auto none = std::optional<std::string>();
    const bool over_hosts =
        plan_.method == StartMethod::existing_world ? plan_.world.several_hosts() : plan_.num_machines > 1;
    plan_.main_ip = decisions
                        .choose<std::string>("main_process_ip",
                                             {{options_.main_process_ip, "--main_process_ip"},
                                              {file_.get(&LaunchConfig::main_process_ip), file_.path()},
                                              {text_in_environment("MASTER_ADDR"), "MASTER_ADDR"},
                                              {over_hosts && !hosts_.empty() ? std::optional(hosts_.front()) : none,
                                               "the first host of the hostfile"},
                                              {over_hosts ? none : std::optional(kHere), "all ranks are on this host"}})
                        .value_or("");
    check(plan_.method != StartMethod::processes || !over_hosts || !plan_.main_ip.empty(),
          "{} machines must know the host of rank 0: give --main_process_ip and --main_process_port on each",
          plan_.num_machines);
    choose_port(over_hosts);
  }

  void choose_port(bool over_hosts) {
    Decisions& decisions = plan_.decisions;
    const auto given = decisions.choose<std::int64_t>("main_process_port",
                                                      {{options_.main_process_port, "--main_process_port"},
                                                       {file_.get(&LaunchConfig::main_process_port), file_.path()},
                                                       {number_in_environment("MASTER_PORT"), "MASTER_PORT"}});
    plan_.main_port = given.value_or(comm::kDefaultPort);
    if (!given) decisions.note("main_process_port", std::to_string(comm::kDefaultPort), "by default");
    check(plan_.main_port <= 65535, "{} is not a port: the highest is 65535", plan_.main_port);
    const bool listens_here =
        (plan_.method == StartMethod::processes && plan_.num_processes > 1 && plan_.machine_rank == 0) ||
        (plan_.method == StartMethod::mpirun && plan_.num_machines == 1);
    check(plan_.main_port != 0 || plan_.method == StartMethod::one_process || (listens_here && !over_hosts),
          "--main_process_port 0: several launchers cannot choose the same free port; give its number");
    const bool must_change = plan_.main_port == 0 || (listens_here && !claim_port(static_cast<int>(plan_.main_port)));
    check(!must_change || plan_.main_port == 0 || (!given && !over_hosts),
          "port {} is in use on this host: choose another with --main_process_port, or 0 for any free one",
          plan_.main_port);
    if (!must_change) return;
    do {
      plan_.main_port = free_port();
    } while (!claim_port(static_cast<int>(plan_.main_port)));
    decisions.replace_last(std::to_string(plan_.main_port),
                           given ? "a free port" : fmt::format("{} is in use", comm::kDefaultPort));
  }

  template <class... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) {
    plan_.warnings.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  const LaunchOptions& options_;
  const ConfigSource& file_;
  cpu::UsableMachine machine_ = cpu::usable_machine();
  std::vector<std::string> hosts_;
  LaunchPlan plan_;
};

}  // namespace

LaunchPlan make_plan(const LaunchOptions& options, const ConfigSource& file, const comm::World& world) {
  return Planner(options, file, world).plan();
}

}  // namespace hearth::launch
