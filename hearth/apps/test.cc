#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearth/apps/command.h"
#include "hearth/apps/processes.h"
#include "hearth/base/arguments.h"
#include "hearth/base/check.h"
#include "hearth/launch/plan/target.h"
#include "hearth/launch/watch/supervisor.h"
#include "hearth/verify/world_check.h"

namespace hearth::apps {
namespace {

constexpr std::int64_t kTimeout = 120;

int check_team(const parallel::Team& team) {
  verify::Report report([](bool, std::string_view line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  });
  const std::vector<std::string> failed = verify::check_world(team, report);
  team.barrier();
  check(failed.empty() || !team.is_first(), "the processes cannot train together; these checks failed: {}",
        fmt::join(failed, ", "));
  return failed.empty() ? 0 : 1;
}

// Started as any other job, so that nothing but the configuration decides how.
int launch_checks(const std::optional<std::string>& config_file) {
  std::vector<std::string> command{launch::own_program(), "launch"};
  if (config_file) command.insert(command.end(), {"--config_file", *config_file});
  command.insert(command.end(), {"test", "--in_world"});
  launch::SupervisorOptions options;
  options.output.prefix = false;
  return launch::supervise({{0, {command, {}, std::nullopt}}}, options).status;
}

}  // namespace

int test(std::span<const std::string> words) {
  std::optional<std::string> config_file;
  bool in_world = false;
  Arguments arguments("hearth test",
                      "Launches the processes of your configuration and checks that they can train together.");
  arguments.add("config_file", &config_file, "configuration file of `hearth config`, if not the default one");
  arguments.add("in_world", &in_world, "check the processes that a launcher has already started, of which this is one");
  arguments.examples({"hearth test", "hearth test --config_file cluster.yaml", "mpirun -n 4 hearth test --in_world"});
  if (!parse_or_print_help(arguments, words)) return 0;
  const comm::World world = comm::world_from_environment();
  if (in_world) {
    log_as(world);
    TrainingArguments training;
    training.ddp_timeout = kTimeout;
    return run_as(world, [&] { return run_in_team(training, world, check_team); });
  }
  const int status = launch_checks(config_file);
  if (status == 0 && world.rank == 0) fmt::print("Test is a success! You are ready for your distributed training!\n");
  return status;
}

}  // namespace hearth::apps
