// Which copies are shared, and who rebuilds them.
//
// A copy (autograd/weight_copies.h) is made by the first forward pass that needs it, on each rank for itself. agree()
// counts, for every copy that can exist, on how many ranks it does (`present`), was read since the last update (`read`)
// and is shared already (`shared`). All ranks see the same counts and do the same:
//   present on all ranks, read on at least one: it becomes shared, that is, all ranks get the same new memory for it,
//   which rebuild() fills; if it is shared already, it stays where it is.
//   shared here but missing elsewhere: it becomes this rank's own.
//   read on no rank: the update drops it on all ranks (drop_unread_copies).
// rebuild() cuts all shared copies into pieces of whole rows. Each rank rebuilds its share of the pieces, by their
// number of weights. Parameters that lie entirely in the part of one rank are left out: that rank has rebuilt their
// copies together with the update (optim/update_pieces.h).
//
// Weights that were loaded reach all ranks through broadcast_weights(), which drops the copies. Each rank then makes
// its own again, and the next update shares them.

#include "hearth/parallel/shared_copies.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <utility>

#include "hearth/base/profiler.h"
#include "hearth/base/rounding.h"
#include "hearth/cpu/parallel.h"
#include "hearth/kernels/simd/chunks.h"
#include "hearth/parallel/span_names.h"

namespace hearth::parallel {
namespace {

constexpr std::size_t kCacheLine = 64;

constexpr std::array kTypes = {DType::f32, DType::bf16, DType::f16};
constexpr std::array kLayouts = {WeightForm::Layout::plain, WeightForm::Layout::packed,
                                 WeightForm::Layout::packed_transposed};

// Every copy that can exist, in the same order on all ranks; null where it does not.
std::vector<WeightCopy*> possible_copies(ParameterStore& parameters) {
  std::vector<WeightCopy*> all;
  for (Parameter* parameter : parameters.trainable())
    for (const DType type : kTypes)
      for (const WeightForm::Layout layout : kLayouts) {
        const auto copy = std::ranges::find(parameter->copies, WeightForm{type, layout}, &WeightCopy::form);
        all.push_back(copy == parameter->copies.end() ? nullptr : &*copy);
      }
  return all;
}

// To be rebuilt at its next use.
WeightCopy own_copy(const WeightCopy& copy) {
  return {.form = copy.form, .was_read = copy.was_read, .value = Tensor(copy.value.shape(), copy.value.type())};
}

struct Count {
  std::int32_t present = 0, read = 0, shared = 0;
};

struct Piece {
  const Parameter* parameter;
  const WeightCopy* copy;
  std::int64_t row_begin, row_end;
  std::int64_t before;  // weights of all pieces before this one
};

void cut(const Parameter& parameter, const WeightCopy& copy, std::vector<Piece>& pieces, std::int64_t& weights) {
  const std::int64_t rows = parameter.shape[0], columns = parameter.shape.size() / rows, unit = copy.row_unit();
  const std::int64_t step = std::max<std::int64_t>(1, kernels::kFlatChunk / (unit * columns)) * unit;
  for (std::int64_t row = 0; row < rows; row += step) {
    const std::int64_t end = std::min(rows, row + step);
    pieces.push_back({&parameter, &copy, row, end, weights});
    weights += (end - row) * columns;
  }
}

}  // namespace

SharedCopies::SharedCopies(ParameterStore& parameters, const Partition& partition, Team team)
    : parameters_(parameters), partition_(partition), team_(std::move(team)) {}

SharedCopies::~SharedCopies() {
  for (Parameter* parameter : parameters_.trainable())
    std::erase_if(parameter->copies, [&](const WeightCopy& copy) { return is_shared(copy); });
}

bool SharedCopies::is_shared(const WeightCopy& copy) const {
  const auto* const value = static_cast<const std::byte*>(copy.value.raw());
  return std::ranges::any_of(regions_, [&](const Region& region) {
    return value >= region.memory.get() && value < region.memory.get() + region.bytes;
  });
}

bool SharedCopies::is_rebuilt_by_owner(const Parameter& parameter) const {
  const std::int64_t end = parameter.offset + parameter.shape.size();
  const auto bucket = std::ranges::upper_bound(partition_.buckets(), parameter.offset, {}, &optim::Interval::end);
  for (int rank = 0; rank < team_.size(); ++rank) {
    const optim::Interval part = partition_.part(*bucket, rank);
    if (part.begin <= parameter.offset && end <= part.end) return true;
  }
  return false;
}

void SharedCopies::agree() {
  const Span span(kGatheringWeights);
  const std::vector<WeightCopy*> copies = possible_copies(parameters_);
  std::vector<Count> counts;
  for (const WeightCopy* copy : copies)
    counts.push_back(copy == nullptr ? Count{} : Count{1, copy->was_read, is_shared(*copy)});
  team_.group().all_reduce(counts.data(), counts.size() * sizeof(Count) / sizeof(std::int32_t), DType::i32)->wait();

  std::erase_if(regions_, [](const Region& region) { return region.memory.use_count() == 1; });  // no copy is there
  std::vector<WeightCopy*> to_share;
  Region region;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (copies[i] == nullptr || counts[i].read == 0) continue;
    if (counts[i].present < team_.size()) {
      if (is_shared(*copies[i])) *copies[i] = own_copy(*copies[i]);
      continue;
    }
    copies[i]->was_read = true;
    if (counts[i].shared == team_.size()) continue;
    to_share.push_back(copies[i]);
    region.bytes += round_up(copies[i]->value.bytes(), kCacheLine);
  }
  if (to_share.empty()) return;
  region.memory = team_.group().share(region.bytes);
  std::byte* at = region.memory.get();
  for (WeightCopy* copy : to_share) {
    copy->value = Tensor::view_of(at, copy->value.shape(), copy->value.type(), region.memory);
    at += round_up(copy->value.bytes(), kCacheLine);
  }
  regions_.push_back(std::move(region));
}

void SharedCopies::rebuild() {
  std::vector<Piece> pieces;
  std::int64_t weights = 0;
  for (Parameter* parameter : parameters_.trainable())
    for (WeightCopy& copy : parameter->copies) {
      if (!is_shared(copy)) continue;
      if (!is_rebuilt_by_owner(*parameter)) cut(*parameter, copy, pieces, weights);
      copy.version = parameter->version;
    }
  const auto position = [&](int rank) {
    const auto first = std::ranges::lower_bound(pieces, weights * rank / team_.size(), {}, &Piece::before);
    return first - pieces.begin();
  };
  const std::int64_t first = position(team_.rank()), last = position(team_.rank() + 1);
  {
    const Span span("weight conversion");
    cpu::parallel_for(last - first, [&](std::int64_t i) {
      const Piece& piece = pieces[static_cast<std::size_t>(first + i)];
      hearth::rebuild(*piece.parameter, *piece.copy, piece.row_begin, piece.row_end, false);
    });
  }
  const Span span(kGatheringWeights);
  team_.barrier();
}

}  // namespace hearth::parallel
