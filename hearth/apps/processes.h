#pragma once

#include <functional>

#include "hearth/comm/world.h"
#include "hearth/parallel/team.h"
#include "hearth/train/training_arguments.h"

// The first steps of a command that several processes run together.
namespace hearth::apps {

// Sets which messages this process shows: rank 0 shows all, the other ranks show warnings, which name the rank.
void log_as(const comm::World& world);
// The same once --log_level, --log_level_replica and --log_on_each_node are known.
void log_as(const comm::World& world, const TrainingArguments& args);

// Runs `body`. If there are several processes, a failure is printed here, with the rank, and becomes Reported.
int run_as(const comm::World& world, const std::function<int()>& body);

// Runs `body` in the team of all processes. An exception is printed before this process leaves the team: the other
// ranks end when they hear of it, after they have repeated it, and then the launcher ends this one. Connects this
// process with the others, as
// --ddp_backend, --ddp_timeout and --local_rank say. Each process of a host is pinned to its own cores, unless its
// launcher pinned it, and computes with --num_threads or OMP_NUM_THREADS threads, otherwise with one thread per core.
// Processes that have one hardware thread each take turns on the threads of all.
int run_in_team(const TrainingArguments& args, const comm::World& world,
                const std::function<int(const parallel::Team&)>& body);

}  // namespace hearth::apps
