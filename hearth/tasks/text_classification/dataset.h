#pragma once

#include <memory>
#include <tuple>
#include <vector>

#include "hearth/data/dataset.h"
#include "hearth/tasks/common/token_rows.h"
#include "hearth/tasks/text_classification/labels.h"

namespace hearth::tasks {

// Texts as tokens, with their labels if they have some.
struct TextFeatures : TokenRows {
  TextLabels labels;

  auto arrays() { return std::tie(starts, ids, type_ids, labels.classes, labels.targets, labels.scores); }
  auto arrays() const { return std::tie(starts, ids, type_ids, labels.classes, labels.targets, labels.scores); }
};

// The features of a file as the data of a Trainer.
class TextDataset final : public Dataset {
 public:
  // `order`: the rows that are the items; empty: all of them.
  TextDataset(std::shared_ptr<const TextFeatures> features, const CollateOptions& options,
              std::vector<std::int64_t> order = {})
      : features_(std::move(features)), options_(options), order_(std::move(order)) {}

  std::int64_t size() const override { return order_.empty() ? features_->rows() : std::ssize(order_); }
  std::int64_t length(std::int64_t item) const override { return features_->length(row_of(item)); }
  BatchPtr collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const override;
  const TokenRows& rows() const { return *features_; }
  TextLabels labels() const;  // of the items

 private:
  std::int64_t row_of(std::int64_t item) const {
    return order_.empty() ? item : order_.at(static_cast<std::size_t>(item));
  }

  std::shared_ptr<const TextFeatures> features_;
  CollateOptions options_;
  std::vector<std::int64_t> order_;
};

}  // namespace hearth::tasks
