#include "hearth/launch/launch.h"

#include <fmt/ranges.h>

#include <chrono>
#include <ctime>

#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/base/exit_status.h"
#include "hearth/base/log.h"
#include "hearth/launch/place/memory_allocator.h"
#include "hearth/launch/plan/launch_plan.h"
#include "hearth/launch/plan/mpirun_command.h"
#include "hearth/launch/plan/plan_report.h"
#include "hearth/launch/plan/target.h"
#include "hearth/launch/start/environment_contract.h"
#include "hearth/launch/start/process.h"
#include "hearth/launch/watch/orphan_guard.h"
#include "hearth/launch/watch/supervisor.h"

namespace hearth::launch {
namespace {

Variables joined(Variables first, const Variables& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Several launchers of one job cannot agree on a random token themselves; there the user may set one.
Variables job_token(const LaunchPlan& plan) {
  const bool one_launcher = plan.method == StartMethod::mpirun || plan.num_machines == 1;
  if (plan.method == StartMethod::existing_world || !one_launcher || !environment(kTokenVariable).empty()) return {};
  return {{std::string(kTokenVariable), random_token()}};
}

Variables restart_counts(std::int64_t attempt, const LaunchOptions& options) {
  if (options.max_restarts == 0) return {};
  return {{"TORCHELASTIC_RESTART_COUNT", std::to_string(attempt)},
          {"TORCHELASTIC_MAX_RESTARTS", std::to_string(options.max_restarts)}};
}

// If the user set OMP_PROC_BIND, the OpenMP runtime has bound this launcher to one core, which mpirun must not inherit.
RankPlacement whole_host() {
  RankPlacement all;
  for (const cpu::NumaNode& node : cpu::usable_machine().nodes)
    all.places.insert(all.places.end(), node.cores.begin(), node.cores.end());
  return all;
}

class Job {
 public:
  Job(const LaunchOptions& options, LaunchPlan plan, std::vector<std::string> command)
      : options_(options),
        plan_(std::move(plan)),
        allocator_(allocator_settings(options.memory_allocator, plan_.decisions)),
        command_(std::move(command)) {
    if (plan_.method == StartMethod::mpirun) mpirun_ = find_mpirun();
  }

  const LaunchPlan& plan() const { return plan_; }

  // The ranks of this host. Under mpirun this is only shown by --dry_run; mpirun starts them.
  std::vector<RankStart> rank_starts(std::int64_t attempt) const {
    const Variables job = joined(joined(job_environment(plan_), allocator_), attempt_environment(attempt));
    std::vector<RankStart> starts;
    for (std::size_t i = 0; i < plan_.placement.size(); ++i) {
      const comm::World world = rank_of(plan_, static_cast<int>(i));
      const Variables all = joined(rank_environment(world, plan_.placement[i]), job);
      starts.push_back({world.rank, {target(attempt), all, plan_.placement[i]}});
    }
    return starts;
  }

  // The processes that this launcher starts itself: the ranks, or mpirun.
  std::vector<RankStart> starts(std::int64_t attempt) const {
    if (plan_.method != StartMethod::mpirun) return rank_starts(attempt);
    const auto command = mpirun_command(mpirun_, plan_, options_, target(attempt));
    return {{-1, {command, attempt_environment(attempt), whole_host()}}};
  }

  LaunchEnd run() const {
    for (std::int64_t attempt = 0;; ++attempt) {
      SupervisorOptions supervision;
      supervision.interrupt_grace = std::chrono::seconds(options_.grace_period);
      supervision.output = {plan_.num_processes > 1, options_.log_dir, options_.tee, attempt > 0};
      if (plan_.method == StartMethod::mpirun) supervision.origin = mpirun_line_origin;
      const JobEnd end = supervise(starts(attempt), supervision);
      if (end.status == 0) return {};
      const bool resumable = end.status == kInterruptedStatus;
      if (resumable || end.interrupted || would_repeat(end) || attempt == options_.max_restarts)
        return {end.status, describe(end)};
      log_warning("{}\nrestarting all processes, restart {} of {}", describe(end), attempt + 1, options_.max_restarts);
    }
  }

 private:
  std::vector<std::string> target(std::int64_t attempt) const {
    return attempt == 0 ? command_ : resumed(command_, started_);
  }

  Variables attempt_environment(std::int64_t attempt) const {
    return joined(job_token(plan_), restart_counts(attempt, options_));
  }

  // A training run computes the same numbers again.
  bool would_repeat(const JobEnd& end) const {
    return end.status == kNotFiniteStatus && command_.front() == own_program();
  }

  std::string describe(const JobEnd& end) const {
    if (end.status == kInterruptedStatus)
      return fmt::format("the job was stopped by a signal and can be resumed (status {})", end.status);
    const bool is_mpirun = end.failed_rank == -1;
    const bool among_others = plan_.num_processes > 1;
    std::string sentence =
        fmt::format("{} {}", is_mpirun ? mpirun_.program : fmt::format("rank {}", end.failed_rank), end.reason);
    if (among_others && !is_mpirun) sentence += "; all other ranks were ended";
    if (among_others && !end.last_lines.empty())
      sentence += fmt::format("; its last lines:\n  {}", fmt::join(end.last_lines, "\n  "));
    return sentence;
  }

  const LaunchOptions& options_;
  LaunchPlan plan_;
  Variables allocator_;
  std::vector<std::string> command_;
  Mpirun mpirun_;
  std::int64_t started_ = static_cast<std::int64_t>(std::time(nullptr));
};

}  // namespace

LaunchEnd launch(const LaunchOptions& options, std::span<const std::string> commands) {
  const Job job(options, make_plan(options, ConfigSource(options), comm::world_from_environment()),
                target_command(options, commands));
  const LaunchPlan& plan = job.plan();
  if (plan.world.rank == 0) {  // in an existing world only one rank prints; otherwise the rank is 0
    if (!options.quiet || options.dry_run) log_info("{}", plan_table(plan));
    for (const std::string& warning : plan.warnings) log_warning("{}", warning);
    if (options.dry_run) log_info("{}", command_table(job.starts(0).front().start.words, job.rank_starts(0)));
  }
  if (options.dry_run) return {};
  if (plan.method == StartMethod::existing_world) guard_this_process();
  if (plan.method == StartMethod::existing_world || plan.method == StartMethod::one_process)
    become(job.starts(0).front().start);
  return job.run();
}

}  // namespace hearth::launch
