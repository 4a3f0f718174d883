#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hearth/data/dataset.h"
#include "hearth/tasks/common/token_rows.h"

namespace hearth::tasks {

// The texts of one column as tokens.
struct TextColumn {
  TokenRows rows;
  std::int64_t prompt_tokens = 0;  // the first tokens of each row, which pooling leaves out
};

// Items of one or several texts, with labels where they have some.
struct EmbeddingFeatures {
  std::vector<TextColumn> columns;
  std::vector<float> labels;  // (items, labels per item), or empty
  // (items, columns), equal numbers for equal texts: items of a batch must not share one. Empty: they may.
  std::vector<std::int64_t> distinct_texts;
  std::string file;

  std::int64_t size() const { return columns.front().rows.rows(); }
};

// The features of a file as the data of a Trainer. A batch has the sequences of the first column, then those of the
// second, ...
class EmbeddingDataset final : public Dataset {
 public:
  EmbeddingDataset(std::shared_ptr<const EmbeddingFeatures> features, const CollateOptions& options)
      : features_(std::move(features)), options_(options) {}

  std::int64_t size() const override { return features_->size(); }
  std::int64_t length(std::int64_t item) const override;
  std::vector<std::int64_t> epoch_order(std::int64_t batch_size, std::int64_t epoch) const override;
  BatchPtr collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const override;
  const EmbeddingFeatures& features() const { return *features_; }

 private:
  std::shared_ptr<const EmbeddingFeatures> features_;
  CollateOptions options_;
};

// Equal numbers for equal texts: (records, columns) of texts by column, then by record.
std::vector<std::int64_t> numbers_of_texts(const std::vector<std::vector<std::string>>& texts);

}  // namespace hearth::tasks
