#include "hearth/train/batch_size.h"

#include <algorithm>
#include <cstddef>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/data/collate.h"
#include "hearth/ops/linear_matmuls.h"

namespace hearth {
namespace {

void try_pass(nn::Model& model, const BatchPtr& batch, const StepOptions& options) {
  model.parameters().zero_grad();
  Tape tape;
  ops::Context ctx = training_context(tape, 0, options);
  const Var loss = loss_of(model, ctx, batch);
  tape.backward(loss, 1);
}

using Items = std::vector<std::int64_t>;

// A batch of at most `count` items with fewer than ops::kManyTokens tokens, but nearly as many.
Items largest_of_few_tokens(const Dataset& data, const Items& longest_first, std::size_t count) {
  Items items;
  std::int64_t tokens = 0;
  for (const std::int64_t item : longest_first) {
    if (items.size() == count) break;
    if (tokens + data.length(item) >= ops::kManyTokens) continue;
    tokens += data.length(item);
    items.push_back(item);
  }
  return items;
}

// The reason why batches of `count` items do not fit, or nothing.
std::optional<std::string> refusal(nn::Model& model, const Dataset& data, const Items& longest_first, std::size_t count,
                                   const StepOptions& options) {
  try {
    const BatchPtr longest = collate(data, std::span(longest_first).first(count), 0);
    try_pass(model, longest, options);
    // Backward keeps up to twice as much per token of a batch of fewer tokens.
    if (longest->tokens() < ops::kManyTokens || longest->tokens() >= 2 * ops::kManyTokens) return std::nullopt;
    const Items few = largest_of_few_tokens(data, longest_first, count);
    if (!few.empty()) try_pass(model, collate(data, few, 0), options);
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
    const std::optional<std::string> refused = refusal(model, data, longest, count, options);
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
