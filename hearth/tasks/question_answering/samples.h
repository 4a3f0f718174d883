#pragma once

#include <span>
#include <vector>

#include "hearth/metrics/sample_prediction.h"
#include "hearth/tasks/question_answering/examples.h"
#include "hearth/tasks/question_answering/postprocess.h"

namespace hearth::tasks {

// Some answers, wrong and right by exact match, each with the part of its context that has the expected answer.
std::vector<SamplePrediction> qa_samples(std::span<const QaExample> examples,
                                         std::span<const QaPrediction> predictions);

}  // namespace hearth::tasks
