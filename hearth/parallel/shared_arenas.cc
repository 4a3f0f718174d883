#include "hearth/parallel/shared_arenas.h"

#include <algorithm>
#include <exception>

#include "hearth/base/error.h"
#include "hearth/base/log.h"
#include "hearth/base/rounding.h"
#include "hearth/cpu/parallel.h"
#include "hearth/kernels/simd/chunks.h"
#include "hearth/kernels/update/sum_arrays.h"

namespace hearth::parallel {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Runs task(begin, end) on pieces of the intervals, on all threads.
template <class Task>
void for_pieces(std::span<const optim::Interval> intervals, const Task& task) {
  std::vector<optim::Interval> pieces;
  for (const optim::Interval& interval : intervals)
    for (std::int64_t begin = interval.begin; begin < interval.end; begin += kernels::kFlatChunk)
      pieces.push_back({begin, std::min(interval.end, begin + kernels::kFlatChunk)});
  cpu::parallel_for(std::ssize(pieces), [&](std::int64_t i) {
    const optim::Interval& piece = pieces[static_cast<std::size_t>(i)];
    task(piece.begin, piece.end);
  });
}

}  // namespace

std::unique_ptr<SharedArenas> SharedArenas::make(ParameterStore& parameters, const Team& team, bool with_weights) {
  if (!team.group().shares_memory() || parameters.size() == 0) return nullptr;
  const std::size_t arena = round_up(static_cast<std::size_t>(parameters.size()) * sizeof(float), kHugePage);
  const std::size_t first = with_weights ? arena : 0;
  const std::shared_ptr<std::byte> memory = team.group().share(first + arena * static_cast<std::size_t>(team.size()));
  const auto arena_at = [&](std::size_t offset) {
    return Tensor::view_of(memory.get() + offset, {parameters.size()}, DType::f32, memory);
  };
  std::unique_ptr<SharedArenas> shared(new SharedArenas(parameters, with_weights));
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(team.size()); ++rank)
    shared->gradients_.push_back(arena_at(first + rank * arena).data<float>());

  shared->own_ = const_cast<float*>(shared->gradients_[static_cast<std::size_t>(team.rank())]);
  const Tensor master = with_weights ? arena_at(0) : parameters.master();
  const Tensor grad = arena_at(first + static_cast<std::size_t>(team.rank()) * arena);
  if (with_weights && team.is_first()) master.copy_from(parameters.master());
  const auto has_grad = [](const Parameter* parameter) { return parameter->has_grad; };
  if (std::ranges::any_of(parameters.trainable(), has_grad)) grad.copy_from(parameters.grad());
  parameters.move_arenas(master, grad);
  if (with_weights) {
    team.barrier();  // the weights are there
    parameters.mark_changed();
  }
  return shared;
}

// After a failure nobody needs the weights. Where there is no memory for them either, they stay where they are.
SharedArenas::~SharedArenas() {
  if (!has_weights_ || std::uncaught_exceptions() > 0) return;
  try {
    parameters_.move_arenas(parameters_.master().clone(), parameters_.grad());
  } catch (const Error& error) {
    log_warning("the weights stay in memory that the ranks share: {}", error.what());
  }
}

void SharedArenas::sum(std::span<const optim::Interval> intervals) const {
  for_pieces(intervals,
             [&](std::int64_t begin, std::int64_t end) { kernels::sum_arrays(gradients_, begin, end, own_); });
}

void SharedArenas::copy_from(int rank, std::span<const optim::Interval> intervals) const {
  const float* const theirs = gradients_[static_cast<std::size_t>(rank)];
  for_pieces(intervals,
             [&](std::int64_t begin, std::int64_t end) { std::copy(theirs + begin, theirs + end, own_ + begin); });
}

}  // namespace hearth::parallel
