#pragma once

#include <span>
#include <string>

#include "hearth/autograd/parameter.h"
#include "hearth/data/dataset.h"
#include "hearth/parallel/team.h"
#include "hearth/train/training_arguments.h"

namespace hearth {

// Values that must be the same in all processes of a run.

// "50 items (lengths 0123456789ab)": differs for data of another number or other lengths of items.
std::string description_of(const Dataset& data);
// The arguments that are not per_process().
parallel::Team::NamedValues agreed_values(std::span<const Arguments::Resolved> arguments);
// Those, the names and shapes of the parameters, and the number and lengths of the training items.
parallel::Team::NamedValues agreed_values(const TrainingArguments& args, const ParameterStore& parameters,
                                          const Dataset& train_data);

}  // namespace hearth
