#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/optim/optimizer.h"

namespace hearth::parallel {

struct PartitionOptions {
  std::size_t first_bucket_bytes = std::size_t{1} << 20;  // small, so that sending begins early
  std::size_t bucket_bytes = std::size_t{25} << 20;
  bool sharded = false;  // each rank owns one part of each bucket; otherwise it owns all of it
};

// How the arenas are cut: into buckets, which are sent one by one, and each bucket into equal parts, one per rank. The
// last buckets are smaller, down to a quarter, because no backward pass is left to overlap with the very last.
class HEARTH_API Partition {
 public:
  // `alone`: intervals that become a bucket of their own whatever their size, in ascending order.
  Partition(std::int64_t elements, int rank, int ranks, const PartitionOptions& options = {},
            const std::vector<optim::Interval>& alone = {});

  bool sharded() const { return sharded_; }
  const std::vector<optim::Interval>& buckets() const { return buckets_; }
  // Elements of a part. The last parts of a bucket may reach beyond its end.
  std::int64_t part_size(const optim::Interval& bucket) const;
  bool is_even(const optim::Interval& bucket) const { return part_size(bucket) * ranks_ == bucket.size(); }
  optim::Interval part(const optim::Interval& bucket, int rank) const;
  // The part of one bucket that this rank updates, and the parts of all buckets.
  optim::Interval own(const optim::Interval& bucket) const;
  const std::vector<optim::Interval>& own() const { return own_; }

 private:
  int rank_, ranks_;
  bool sharded_;
  std::vector<optim::Interval> buckets_, own_;
};

}  // namespace hearth::parallel
