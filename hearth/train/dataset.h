#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hearth/tensor/batch.h"

namespace hearth {

// The data of a Trainer: items 0 ... size - 1, and a function that makes a batch of some of them.
struct Dataset {
  std::int64_t size = 0;
  std::vector<std::int64_t> lengths;  // in tokens; for group_by_length
  // `first_sample` is the first item's number in the global batch. Called from the prefetching thread.
  std::function<Batch(std::span<const std::int64_t> items, std::uint32_t first_sample)> collate;
};

}  // namespace hearth
