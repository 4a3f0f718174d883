#include "hearth/train/batch_size.h"

#include <algorithm>
#include <new>
#include <numeric>
#include <optional>
#include <span>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/data/collate.h"

namespace hearth {
namespace {

void try_pass(nn::Model& model, const BatchPtr& batch, const StepOptions& options) {
  model.parameters().zero_grad();
  Tape tape;
  ops::Context ctx = training_context(tape, 0, options);
  const Var loss = loss_of(model, ctx, batch);
  tape.backward(loss, 1);
}

// The reason why the pass does not fit, or nothing.
std::optional<std::string> refusal(nn::Model& model, const BatchPtr& batch, const StepOptions& options) {
  try {
    try_pass(model, batch, options);
    return std::nullopt;
  } catch (const ResourceError& error) {
    return error.what();
  } catch (const std::bad_alloc&) {
    return "there is not enough memory";
  }
}

}  // namespace

std::vector<std::int64_t> by_length(const Dataset& data) {
  std::vector<std::int64_t> items(static_cast<std::size_t>(data.size()));
  std::iota(items.begin(), items.end(), 0);
  std::ranges::stable_sort(items, std::greater(), [&](std::int64_t item) { return data.length(item); });
  return items;
}

std::int64_t find_batch_size(nn::Model& model, const Dataset& data, std::int64_t batch, const StepOptions& options,
                             const parallel::Team& team) {
  const std::vector<std::int64_t> longest = by_length(data);
  while (true) {
    const auto count = static_cast<std::size_t>(std::min(batch, data.size()));
    const std::optional<std::string> refused =
        refusal(model, collate(data, std::span(longest).first(count), 0), options);
    model.parameters().zero_grad();
    if (team.smallest(refused ? 0 : 1) == 1) return batch;
    if (batch == 1)
      throw ResourceError(fmt::format("--auto_find_batch_size: not even one sequence fits into memory: {}",
                                      refused.value_or("it does not on another rank")));
    log_info("--auto_find_batch_size: a batch of {} does not fit into memory, trying {}", batch, batch / 2);
    batch /= 2;
  }
}

}  // namespace hearth
