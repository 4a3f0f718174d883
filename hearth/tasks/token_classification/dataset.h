#pragma once

#include <memory>

#include "hearth/data/dataset.h"
#include "hearth/tasks/common/token_rows.h"
#include "hearth/tasks/token_classification/features.h"

namespace hearth::tasks {

// The sentences of a file as the data of a Trainer, with a label per position if the file has tags.
class TokenDataset final : public Dataset {
 public:
  TokenDataset(std::shared_ptr<const TokenFeatures> features, const CollateOptions& options)
      : features_(std::move(features)), options_(options) {}

  std::int64_t size() const override { return features_->rows(); }
  std::int64_t length(std::int64_t item) const override { return features_->length(item); }
  BatchPtr collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const override;

 private:
  std::shared_ptr<const TokenFeatures> features_;
  CollateOptions options_;
};

}  // namespace hearth::tasks
