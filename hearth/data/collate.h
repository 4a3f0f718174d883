#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "hearth/data/dataset.h"

namespace hearth {

// Dataset::collate, checked: an Error that names the items if it returns null or throws something else than an Error.
// What says that resources have run out passes as it is. An epoch is given in training: Dataset::collate_in_epoch.
BatchPtr collate(const Dataset& dataset, std::span<const std::int64_t> items, std::uint32_t first_sample,
                 std::optional<std::int64_t> epoch = std::nullopt);

}  // namespace hearth
