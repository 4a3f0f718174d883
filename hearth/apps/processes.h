#pragma once

#include <functional>

#include "hearth/comm/world.h"
#include "hearth/parallel/team.h"
#include "hearth/train/training_arguments.h"

// What a command that several processes run together does before anything else.
namespace hearth::apps {

// The first process speaks; what the others warn of carries their number.
void log_as(const comm::World& world);

// Runs `body` in this process; of several, the message of an Error names the rank.
int run_as(const comm::World& world, const std::function<int()>& body);

// By --ddp_backend, --ddp_timeout and --local_rank. Of several processes on a host each gets cores of its own, unless
// its launcher gave it some, and computes with --num_threads, or OMP_NUM_THREADS, or one thread for each of its cores.
// Processes of one hardware thread each take turns on those of all.
parallel::Team join(const TrainingArguments& args, comm::World world);

}  // namespace hearth::apps
