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

using Items = std::span<const std::int64_t>;

// The batches of `count` items that need the most memory. Backward keeps less per token of a batch of many tokens
// (ops::kManyTokens), so the largest batch of fewer may need more than the longest items do.
std::vector<Items> largest_batches(const Dataset& data, Items longest_first, std::size_t count) {
  std::vector<Items> batches{longest_first.first(count)};
  std::int64_t tokens = 0;
  for (const std::int64_t item : batches.front()) tokens += data.length(item);
  if (tokens < ops::kManyTokens) return batches;
  for (std::size_t end = count; end < longest_first.size(); ++end) {
    tokens += data.length(longest_first[end]) - data.length(longest_first[end - count]);
    if (tokens >= ops::kManyTokens) continue;
    batches.push_back(longest_first.subspan(end + 1 - count, count));
    break;
  }
  return batches;
}

// The reason why one of the batches does not fit, or nothing.
std::optional<std::string> refusal(nn::Model& model, const Dataset& data, const std::vector<Items>& batches,
                                   const StepOptions& options) {
  try {
    for (const Items items : batches) try_pass(model, collate(data, items, 0), options);
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
    const std::optional<std::string> refused = refusal(model, data, largest_batches(data, longest, count), options);
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
