#pragma once

#include <span>

#include "hearth/autograd/parameter.h"
#include "hearth/parallel/team.h"
#include "hearth/train/dataset.h"
#include "hearth/train/training_arguments.h"

namespace hearth {

// Facts that must be the same in all processes of a run.

// The arguments that all processes must share.
parallel::Team::Facts shared_facts(std::span<const Arguments::Resolved> arguments);
// Those, the names and shapes of the parameters, and the number and lengths of the training items.
parallel::Team::Facts shared_facts(const TrainingArguments& args, const ParameterStore& parameters,
                                   const Dataset& train_data);

}  // namespace hearth
