#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace hearth::data {

// Orders in which an epoch visits the indices 0 ... count - 1.
std::vector<std::int64_t> sequential_order(std::int64_t count);
// torch.randperm.
std::vector<std::int64_t> random_order(std::int64_t count, std::mt19937& random);
// The order of the Trainer and accelerate: torch.randperm with a generator seeded with seed + epoch.
std::vector<std::int64_t> shuffled_order(std::int64_t count, std::int64_t seed, std::int64_t epoch);
// The Trainer's group_by_length: shuffle, split into mega-batches of up to 50 batches, sort each by length (longest
// first) and put the longest item of all in front. The Trainer draws from its global generator here, this function from
// that of shuffled_order.
std::vector<std::int64_t> length_grouped_order(std::span<const std::int64_t> lengths, std::int64_t batch_size,
                                               std::int64_t seed, std::int64_t epoch);

struct BatchOptions {
  std::int64_t batch_size = 1;
  bool drop_last = false;  // drop the items that do not give every rank a full batch
  std::int64_t world = 1, rank = 0;
};

// The batches of one rank: batches rank, rank + world, ... of the global list that the epoch's order is split into.
// With several ranks, every rank gets the same number of full batches: at its end the order starts again from the
// beginning. Positions at or beyond the order's size are such repetitions, which evaluation drops. A single rank gets a
// shorter last batch.
class RankBatches {
 public:
  RankBatches(std::vector<std::int64_t> order, const BatchOptions& options);

  std::int64_t size() const { return size_; }
  std::vector<std::int64_t> operator[](std::int64_t batch) const;

 private:
  std::vector<std::int64_t> order_;
  BatchOptions options_;
  std::int64_t size_ = 0;
  std::int64_t positions_ = 0;  // in the global list, repetitions included
};

}  // namespace hearth::data
