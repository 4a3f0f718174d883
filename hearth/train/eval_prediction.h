#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "hearth/base/api.h"
#include "hearth/metrics/metrics.h"
#include "hearth/nn/model.h"
#include "hearth/tensor/batch.h"
#include "hearth/train/item_values.h"

namespace hearth {

// The logits and labels of a dataset, item by item: logits()[3] is what the model says of item 3, and labels()[3] its
// label. Where the model has a row of logits per token, a row of ItemValues holds those of all tokens of the item, one
// after the other; labels likewise. Class numbers are floats here, exact up to 2^24.
class HEARTH_API EvalPrediction {
 public:
  using Values = std::map<std::string, ItemValues, std::less<>>;

  explicit EvalPrediction(std::int64_t items) : items_(items) {}

  std::int64_t size() const { return items_; }
  // By the name in ModelOutput::logits, and by the name in Batch::labels or float_labels. If there is no such name, an
  // Error that lists the names.
  const ItemValues& logits(std::string_view name = "logits") const;
  const ItemValues& labels(std::string_view name = "labels") const;
  bool has_labels() const { return !labels_.empty(); }

  // Takes a batch of these items with its output.
  void add(std::span<const std::int64_t> items, const Batch& batch, const nn::ModelOutput& output);
  // Collects the rows of all ranks on rank 0, which has the first batch.
  void gather(const parallel::Team& team);

 private:
  std::int64_t items_;
  Values logits_, labels_;
};

// The result of Trainer::predict. The values are complete on rank 0, the metrics the same on all ranks.
struct PredictionOutput {
  EvalPrediction values;
  Metrics metrics;
};

}  // namespace hearth
