#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/data/dataset.h"

namespace hearth {

// A tokenized text with its labels under transformers' names: a number per text ("labels", "start_positions", ...) or
// one per token; the targets of regression and of multi-label classification are floats.
struct TokenItem {
  std::vector<std::int32_t> ids, type_ids = {};  // without type_ids all are 0
  std::map<std::string, std::vector<std::int64_t>> labels = {};
  std::map<std::string, std::vector<float>> float_labels = {};
};

// Tokenized texts in memory, with labels or without them. Batches are packed.
class HEARTH_API TokenDataset final : public Dataset {
 public:
  // All texts have labels of the same names.
  void add_item(TokenItem item);
  // The same with a class, or without one.
  void add(std::span<const std::int32_t> ids, std::span<const std::int32_t> type_ids = {},
           std::optional<std::int64_t> label = std::nullopt);

  std::int64_t size() const override { return static_cast<std::int64_t>(items_.size()); }
  std::int64_t length(std::int64_t item) const override;
  BatchPtr collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const override;

 private:
  std::vector<TokenItem> items_;
};

}  // namespace hearth
