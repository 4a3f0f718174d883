#pragma once

#include <span>

#include "hearth/autograd/parameter.h"
#include "hearth/parallel/team.h"
#include "hearth/train/dataset.h"
#include "hearth/train/training_arguments.h"

namespace hearth {

// What the processes of one run must have in common.

// Of the arguments, those that matter to all.
parallel::Team::Facts shared_facts(std::span<const Arguments::Resolved> arguments);
// With them the parameters' names and shapes, and the training data as far as its lengths tell.
parallel::Team::Facts shared_facts(const TrainingArguments& args, const ParameterStore& parameters,
                                   const Dataset& train_data);

}  // namespace hearth
