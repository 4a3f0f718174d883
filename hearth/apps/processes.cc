#include "hearth/apps/processes.h"

#include <string_view>

#include "hearth/accelerate/failure.h"
#include "hearth/accelerate/process_group.h"
#include "hearth/apps/command.h"
#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/base/log.h"

namespace hearth::apps {
namespace {

LogLevel level_of(Verbosity verbosity, LogLevel passive) {
  switch (verbosity) {
    case Verbosity::passive:
      return passive;
    case Verbosity::warning:
      return LogLevel::warning;
    case Verbosity::error:
    case Verbosity::critical:
      return LogLevel::error;
    case Verbosity::detail:
    case Verbosity::debug:
    case Verbosity::info:
      break;
  }
  return LogLevel::info;
}

parallel::Team join(const TrainingArguments& args, comm::World world) {
  // Old versions of torch's launcher pass the local rank as a flag; newer ones set LOCAL_RANK, which wins.
  if (args.local_rank >= 0 && world.launcher == comm::Launcher::environment && environment("LOCAL_RANK").empty()) {
    world.local_rank = static_cast<int>(args.local_rank);
    if (environment("LOCAL_WORLD_SIZE").empty()) world.local_size = world.size;
  }
  check(world.local_rank < world.local_size,
        "--local_rank {} must be below the number of processes on this host, {}: set LOCAL_WORLD_SIZE",
        world.local_rank, world.local_size);
  log_as(world, args);
  return init_process_group(world, {args.ddp_backend, args.ddp_timeout, args.num_threads});
}

}  // namespace

void log_as(const comm::World& world) {
  if (world.size == 1) return;
  set_log_level(world.rank == 0 ? LogLevel::info : LogLevel::warning);
  const LogSink before = set_log_sink({});
  set_log_sink([before, rank = world.rank](LogLevel level, std::string_view message) {
    const bool names_rank = rank > 0 || level == LogLevel::warning;
    before(level, names_rank ? fmt::format("rank {}: {}", rank, message) : std::string(message));
  });
}

void log_as(const comm::World& world, const TrainingArguments& args) {
  const bool on_each_node = args.log_on_each_node && args.log_level != Verbosity::passive;
  const bool is_main = world.rank == 0 || (on_each_node && world.local_rank == 0);
  set_log_level(is_main ? level_of(args.log_level, LogLevel::info)
                        : level_of(args.log_level_replica, LogLevel::warning));
}

int run_as(const comm::World& world, const std::function<int()>& body) {
  if (world.size == 1) return body();
  try {
    return body();
  } catch (const std::exception& error) {
    print_error(fmt::format("rank {}: {}", world.rank, sentence_of(error)));
    throw Reported{status_of(error)};
  }
}

int run_in_team(const TrainingArguments& args, const comm::World& world,
                const std::function<int(const parallel::Team&)>& body) {
  const parallel::Team team = join(args, world);
  return run_as(world, [&] {
    try {
      return body(team);
    } catch (const std::exception& error) {
      team.group().report_failure(sentence_of(error));
      throw;
    }
  });
}

}  // namespace hearth::apps
