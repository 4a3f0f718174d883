#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hearth::data {

// An order of the items 0 ... n - 1 in which no batch has two items that share a value: sentence-transformers' batch
// sampler no_duplicates. Item i has the values [i * width, (i + 1) * width) of `values`. The items are those of
// `order`, each at the first batch where it fits. Where the remaining items cannot fill a batch, items from the
// beginning of the order fill it up, and as many of the last ones are left out. Nothing if even that cannot fill a
// batch.
std::optional<std::vector<std::int64_t>> distinct_order(const std::vector<std::int64_t>& order,
                                                        std::span<const std::int64_t> values, std::size_t width,
                                                        std::int64_t batch_size);

}  // namespace hearth::data
