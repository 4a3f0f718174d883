#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hearth/tensor/batch.h"

namespace hearth {

// What a Trainer feeds a model from: items 0 ... size - 1, and how some of them become a batch.
struct Dataset {
  std::int64_t size = 0;
  std::vector<std::int64_t> lengths;  // in tokens; for group_by_length
  // `first_sample` is the first item's number in the global batch. Called from a thread of its own.
  std::function<Batch(std::span<const std::int64_t> items, std::uint32_t first_sample)> collate;
};

}  // namespace hearth
