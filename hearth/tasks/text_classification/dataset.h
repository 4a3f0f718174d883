#pragma once

#include <memory>

#include "hearth/data/dataset.h"
#include "hearth/tasks/common/token_rows.h"
#include "hearth/tasks/text_classification/labels.h"

namespace hearth::tasks {

// Texts as tokens, with their labels if they have some.
struct TextFeatures {
  TokenRows rows;
  TextLabels labels;
};

// The features of a file as the data of a Trainer.
class TextDataset final : public Dataset {
 public:
  TextDataset(std::shared_ptr<const TextFeatures> features, const CollateOptions& options)
      : features_(std::move(features)), options_(options) {}

  std::int64_t size() const override { return features_->rows.rows(); }
  std::int64_t length(std::int64_t item) const override { return features_->rows.length(item); }
  BatchPtr collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const override;
  const TokenRows& rows() const { return features_->rows; }
  const TextLabels& labels() const { return features_->labels; }

 private:
  std::shared_ptr<const TextFeatures> features_;
  CollateOptions options_;
};

}  // namespace hearth::tasks
