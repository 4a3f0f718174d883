#pragma once

#include <vector>

#include "hearth/metrics/sample_prediction.h"
#include "hearth/tasks/text_classification/dataset.h"
#include "hearth/tasks/text_classification/predictions.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tasks {

// Some texts with their labels, wrong and right; none for regression.
std::vector<SamplePrediction> text_samples(const TextProblem& problem, const TextDataset& dataset,
                                           const TextPredictions& predicted, const tokenizer::Tokenizer& tokenizer);

}  // namespace hearth::tasks
