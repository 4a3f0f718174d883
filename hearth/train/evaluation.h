#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hearth/data/dataset.h"
#include "hearth/metrics/metrics.h"
#include "hearth/nn/model.h"
#include "hearth/train/item_values.h"
#include "hearth/train/trainer.h"

namespace hearth {

// A pass of the model over a dataset.
struct Evaluation {
  std::string prefix;  // of the metrics' names: "eval"
  ItemValues values;   // what `keep` returned for each item; complete on rank 0
  Metrics loss;        // PREFIX_loss: the mean over items, if all batches have labels
  Metrics speed;       // PREFIX_runtime, PREFIX_samples_per_second, ...

  // All metrics in the order of the Trainer: the loss, the task's scores with the prefix, the speed.
  Metrics with_scores(const Metrics& scores) const;
};

// The numbers to keep of one sequence of a batch.
using KeepValues = std::function<std::vector<float>(std::int64_t sequence, const Batch&, const nn::ModelOutput&)>;

// Runs the model over the dataset in all processes of the team. Every process must call it. For evaluations of a
// program's own that need less than all logits; Trainer::predict keeps them all.
Evaluation evaluate(Trainer& trainer, const Dataset& dataset, std::string prefix, const KeepValues& keep);

}  // namespace hearth
