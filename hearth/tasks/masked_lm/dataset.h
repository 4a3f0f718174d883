#pragma once

#include <cstdint>
#include <memory>

#include "hearth/data/dataset.h"
#include "hearth/tasks/common/token_rows.h"
#include "hearth/tasks/masked_lm/masking.h"

namespace hearth::tasks {

// Sequences that are masked anew in every epoch, with the label -100 where nothing was masked. Outside of training they
// always have the masks of kEvaluationEpoch.
class MaskedDataset final : public Dataset {
 public:
  MaskedDataset(TokenRows rows, std::shared_ptr<const Masking> masking, std::int64_t seed,
                const CollateOptions& options)
      : rows_(std::move(rows)), masking_(std::move(masking)), seed_(seed), options_(options) {}

  const TokenRows& rows() const { return rows_; }
  std::int64_t size() const override { return rows_.rows(); }
  std::int64_t length(std::int64_t item) const override { return rows_.length(item); }
  BatchPtr collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const override {
    return collate_in_epoch(kEvaluationEpoch, items, first_sample);
  }
  BatchPtr collate_in_epoch(std::int64_t epoch, std::span<const std::int64_t> items,
                            std::uint32_t first_sample) const override;

 private:
  TokenRows rows_;
  std::shared_ptr<const Masking> masking_;
  std::int64_t seed_;
  CollateOptions options_;
};

}  // namespace hearth::tasks
