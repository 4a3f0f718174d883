#pragma once

#include <span>
#include <string>

#include "hearth/nn/model.h"
#include "hearth/ops/finite_check.h"
#include "hearth/parallel/team.h"
#include "hearth/train/training_step.h"

namespace hearth {

// What the check of the first process that found something says, with its rank; empty if none has. All processes of
// the team call it and get the same.
std::string first_fault(const parallel::Team& team, const ops::FiniteCheck& check);

// A clause that says where the numbers of a skipped step ceased to be finite. Each process runs its part of the step
// again, without the others, and looks at every op; that gives the same numbers, because the weights are unchanged. The
// gradients are overwritten.
std::string find_fault(nn::Model& model, const parallel::Team& team, std::span<const BatchPtr> micro_batches,
                       std::uint64_t step, const StepResult& result, const StepOptions& options);

// The first parameter with a NaN or an infinity, by name; empty: there is none.
std::string first_not_finite(const ParameterStore& parameters);

}  // namespace hearth
