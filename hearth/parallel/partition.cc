#include "hearth/parallel/partition.h"

#include <algorithm>

#include "hearth/autograd/parameter.h"
#include "hearth/base/check.h"
#include "hearth/base/rounding.h"

namespace hearth::parallel {

Partition::Partition(std::int64_t elements, int rank, int ranks, const PartitionOptions& options,
                     const std::vector<optim::Interval>& alone)
    : rank_(rank), ranks_(ranks), sharded_(options.sharded && ranks > 1) {
  check(options.first_bucket_bytes > 0 && options.bucket_bytes > 0,
        "[Partition] the bucket size must be above 0 bytes");
  const auto elements_of = [&](std::size_t bytes) {
    return round_up(static_cast<std::int64_t>(bytes / sizeof(float)), kAlignedElements * ranks_);
  };
  const auto cut_until = [&](std::int64_t end) {
    for (std::int64_t begin = buckets_.empty() ? 0 : buckets_.back().end; begin < end; begin = buckets_.back().end) {
      const auto half = static_cast<std::size_t>(end - begin) * sizeof(float) / 2;
      const std::size_t bytes = buckets_.empty() ? options.first_bucket_bytes
                                                 : std::clamp(half, options.bucket_bytes / 4, options.bucket_bytes);
      buckets_.push_back({begin, std::min(end, begin + elements_of(bytes))});
    }
  };
  for (const optim::Interval& bucket : alone) {
    cut_until(bucket.begin);
    buckets_.push_back(bucket);
  }
  cut_until(elements);
  if (!sharded_) own_.push_back({0, elements});
  for (const optim::Interval& bucket : buckets_)
    if (sharded_ && own(bucket).size() > 0) own_.push_back(own(bucket));
}

std::int64_t Partition::part_size(const optim::Interval& bucket) const {
  return round_up(divide_up(bucket.size(), ranks_), kAlignedElements);
}

optim::Interval Partition::part(const optim::Interval& bucket, int rank) const {
  const std::int64_t size = part_size(bucket), begin = std::min(bucket.end, bucket.begin + rank * size);
  return {begin, std::min(bucket.end, begin + size)};
}

optim::Interval Partition::own(const optim::Interval& bucket) const { return sharded_ ? part(bucket, rank_) : bucket; }

}  // namespace hearth::parallel
