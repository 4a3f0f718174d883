#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hearth::data {

// The orders in which an epoch visits the indices 0 ... count - 1.
std::vector<std::int64_t> sequential_order(std::int64_t count);
// As Trainer and accelerate shuffle: torch.randperm of a generator with the seed `seed + epoch`.
std::vector<std::int64_t> shuffled_order(std::int64_t count, std::int64_t seed, std::int64_t epoch);
// Trainer's group_by_length: shuffled, cut into mega-batches of up to 50 batches, each sorted by length, longest
// first, and the longest of all in front. Trainer draws from its global generator here; this draws as shuffled_order.
std::vector<std::int64_t> length_grouped_order(std::span<const std::int64_t> lengths, std::int64_t batch_size,
                                               std::int64_t seed, std::int64_t epoch);

struct BatchOptions {
  std::int64_t batch_size = 1;
  bool drop_last = false;  // leaves out what does not give every rank a full batch
  std::int64_t world = 1, rank = 0;
};

// The batches of one rank out of an epoch's order: of the global list of batches, numbers rank, rank + world, ...
// With several ranks all get the same number of full batches: past its end the order begins anew. Positions from
// the order's size on are such repetitions, which evaluation drops. One rank alone gets a shorter last batch.
class RankBatches {
 public:
  RankBatches(std::vector<std::int64_t> order, const BatchOptions& options);

  std::int64_t size() const { return size_; }
  std::vector<std::int64_t> operator[](std::int64_t batch) const;

 private:
  std::vector<std::int64_t> order_;
  BatchOptions options_;
  std::int64_t size_ = 0;
  std::int64_t positions_ = 0;  // of the global list, repetitions included
};

}  // namespace hearth::data
