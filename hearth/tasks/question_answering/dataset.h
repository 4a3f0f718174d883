#pragma once

#include <memory>

#include "hearth/data/dataset.h"
#include "hearth/tasks/common/token_rows.h"
#include "hearth/tasks/question_answering/features.h"

namespace hearth::tasks {

// The features of a file as the data of a Trainer, with labels if the features have them.
class QaDataset final : public Dataset {
 public:
  QaDataset(std::shared_ptr<const QaFeatures> features, const CollateOptions& options)
      : features_(std::move(features)), options_(options) {}

  std::int64_t size() const override { return features_->size(); }
  std::int64_t length(std::int64_t item) const override { return features_->length(item); }
  BatchPtr collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const override;

 private:
  std::int64_t start_position(std::int64_t feature) const;

  std::shared_ptr<const QaFeatures> features_;
  CollateOptions options_;
};

}  // namespace hearth::tasks
