#include "hearth/train/fault.h"

#include <fmt/format.h>

#include <algorithm>

#include "hearth/kernels/rows/elementwise.h"

namespace hearth {

std::string first_fault(const parallel::Team& team, const ops::FiniteCheck& check) {
  if (team.size() == 1) return check.found();
  const std::vector<std::string> all = team.gather(check.found());
  const auto first = std::ranges::find_if(all, [](const std::string& found) { return !found.empty(); });
  return team.broadcast(first == all.end() ? "" : fmt::format("{} on rank {}", *first, first - all.begin()));
}

std::string find_fault(nn::Model& model, const parallel::Team& team, std::span<const BatchPtr> micro_batches,
                       std::uint64_t step, const StepResult& result, const StepOptions& options) {
  if (!result.fault.empty()) return "first came " + result.fault;
  ops::FiniteCheck check;
  model.parameters().zero_grad();
  for (const BatchPtr& batch : micro_batches) {
    Tape tape;
    ops::Context ctx = training_context(tape, step, options, &check);
    const Var loss = model.forward(ctx, batch).loss;
    tape.backward(loss, result.loss_grad);
  }
  const std::string found = first_fault(team, check);
  if (!found.empty()) return "first came " + found;
  return team.size() > 1 ? "the numbers of each process are finite, but not their sum"
                         : "the same step gives finite numbers when it is run again, so this machine may be faulty";
}

std::string first_not_finite(const ParameterStore& parameters) {
  for (const NamedParameter& parameter : parameters.named())
    if (!kernels::all_finite(parameter.value.type(), parameter.value.size(), parameter.value.raw()))
      return parameter.name;
  return "";
}

}  // namespace hearth
