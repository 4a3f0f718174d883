#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/tensor/batch.h"

namespace hearth {

// The data of a Trainer: items 0 ... size() - 1.
class HEARTH_API Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const = 0;
  virtual std::int64_t length(std::int64_t item) const = 0;  // in tokens; for group_by_length
  // An order of the dataset's own for an epoch, cut into batches of `batch_size`; empty: the Trainer's arguments
  // decide.
  virtual std::vector<std::int64_t> epoch_order(std::int64_t /*batch_size*/, std::int64_t /*epoch*/) const {
    return {};
  }
  // A batch of these items; `first_sample` is the first item's number in the global batch. Several threads may call it
  // at the same time: batches of training are made ahead while an evaluation makes its own.
  virtual BatchPtr collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const = 0;
  // The same in an epoch of training, from 0 on: for items that change with it, such as texts that are masked anew.
  virtual BatchPtr collate_in_epoch(std::int64_t /*epoch*/, std::span<const std::int64_t> items,
                                    std::uint32_t first_sample) const {
    return collate(items, first_sample);
  }
};

using DatasetPtr = std::shared_ptr<const Dataset>;

}  // namespace hearth
