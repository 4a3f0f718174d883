#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/data/dataset.h"

namespace hearth {

// Tokenized texts in memory, each with a label for classification or without one. Batches are packed.
class HEARTH_API TokenDataset final : public Dataset {
 public:
  // Without type_ids all are 0. Either every text has a label, or none has.
  void add(std::span<const std::int32_t> ids, std::span<const std::int32_t> type_ids = {},
           std::optional<std::int64_t> label = std::nullopt);

  std::int64_t size() const override { return static_cast<std::int64_t>(items_.size()); }
  std::int64_t length(std::int64_t item) const override;
  BatchPtr collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const override;

 private:
  struct Item {
    std::vector<std::int32_t> ids, type_ids;
    std::optional<std::int64_t> label;
  };

  std::vector<Item> items_;
};

}  // namespace hearth
