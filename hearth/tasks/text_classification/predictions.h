#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hearth/nn/model.h"
#include "hearth/tasks/text_classification/labels.h"
#include "hearth/train/item_values.h"

namespace hearth::tasks {

// What a model says about texts; one member is filled, as the problem asks.
struct TextPredictions {
  std::vector<std::int64_t> classes;  // (rows)
  std::vector<float> numbers;         // (rows)
  std::vector<std::uint8_t> flags;    // (rows, labels): 1 where the logit is above 0
};

// The numbers that an evaluation keeps of a text, sequence `sequence` of the batch.
std::vector<float> kept_class_logits(std::int64_t sequence, const Batch& batch, const nn::ModelOutput& output);

TextPredictions predictions_of(const ItemValues& logits, const TextProblem& problem);

// Writes a prediction per line as run_glue.py and run_classification.py do: the index, a tab, and the label's name, the
// number with three decimals, or a Python list of names.
void write_predictions(const TextPredictions& predictions, const TextProblem& problem,
                       const std::filesystem::path& file);

}  // namespace hearth::tasks
