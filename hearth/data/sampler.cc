#include "hearth/data/sampler.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/base/rounding.h"

namespace hearth::data {

std::vector<std::int64_t> sequential_order(std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  return order;
}

std::vector<std::int64_t> random_order(std::int64_t count, std::mt19937& random) {
  constexpr std::int64_t kLimit = std::numeric_limits<std::uint32_t>::max() / 20;  // from here PyTorch draws 64 bits
  check(count < kLimit, "A dataset of {} features cannot be shuffled: the limit is {}", count, kLimit);
  std::vector<std::int64_t> order = sequential_order(count);
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const std::size_t step = static_cast<std::size_t>(random()) % (order.size() - i);
    std::swap(order[i], order[i + step]);
  }
  return order;
}

std::vector<std::int64_t> shuffled_order(std::int64_t count, std::int64_t seed, std::int64_t epoch) {
  std::mt19937 random(static_cast<std::uint32_t>(seed + epoch));
  return random_order(count, random);
}

std::vector<std::int64_t> length_grouped_order(std::span<const std::int64_t> lengths, std::int64_t batch_size,
                                               std::int64_t seed, std::int64_t epoch) {
  check(batch_size > 0, "The batch size is {}; it must be at least 1", batch_size);
  const auto count = static_cast<std::int64_t>(lengths.size());
  std::vector<std::int64_t> order = shuffled_order(count, seed, epoch);
  if (order.empty()) return order;

  const auto length_of = [&](std::int64_t index) { return lengths[static_cast<std::size_t>(index)]; };
  const std::int64_t mega_batch = batch_size * std::clamp<std::int64_t>(count / (4 * batch_size), 1, 50);
  auto longest = order.begin();
  for (std::int64_t begin = 0; begin < count; begin += mega_batch) {
    const auto first = order.begin() + begin;
    const auto last = order.begin() + std::min(count, begin + mega_batch);
    std::stable_sort(first, last, [&](std::int64_t a, std::int64_t b) { return length_of(a) > length_of(b); });
    if (length_of(*first) > length_of(*longest)) longest = first;
  }
  std::iter_swap(order.begin(), longest);
  return order;
}

RankBatches::RankBatches(std::vector<std::int64_t> order, const BatchOptions& options)
    : order_(std::move(order)), options_(options) {
  check(options.batch_size > 0, "The batch size is {}; it must be at least 1", options.batch_size);
  check(options.world > 0 && options.rank >= 0 && options.rank < options.world,
        "Rank {} of {} processes does not exist", options.rank, options.world);
  const auto count = static_cast<std::int64_t>(order_.size());
  const std::int64_t round = options.batch_size * options.world;
  size_ = options.drop_last ? count / round : divide_up(count, round);
  positions_ = options.world == 1 ? std::min(count, size_ * round) : size_ * round;
}

std::vector<std::int64_t> RankBatches::operator[](std::int64_t batch) const {
  check(batch >= 0 && batch < size_, "[RankBatches] batch {} of {}", batch, size_);
  const std::int64_t begin = (batch * options_.world + options_.rank) * options_.batch_size;
  const std::int64_t end = std::min(begin + options_.batch_size, positions_);
  std::vector<std::int64_t> indices;
  indices.reserve(static_cast<std::size_t>(end - begin));
  for (std::int64_t at = begin; at < end; ++at) {
    indices.push_back(order_[static_cast<std::size_t>(at) % order_.size()]);
  }
  return indices;
}

}  // namespace hearth::data
