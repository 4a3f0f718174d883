#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/metrics/metrics.h"
#include "hearth/tasks/question_answering/examples.h"
#include "hearth/tasks/question_answering/postprocess.h"

namespace hearth::tasks {

// SQuAD's normalisation: lower case, no punctuation, no articles, single spaces.
std::string normalize_answer(std::string_view text);

// The metric of SQuAD 1.1: exact_match and f1 in percent. There is one prediction per example.
Metrics squad_metric(std::span<const QaExample> examples, std::span<const QaPrediction> predictions);
// The metric of SQuAD 2.0, where questions may have no answer: exact, f1 and total, the same for the questions with an
// answer (HasAns_) and without one (NoAns_), and the best scores over all thresholds.
Metrics squad_v2_metric(std::span<const QaExample> examples, std::span<const QaPrediction> predictions);
// All names that the metrics may contain; HasAns_ and NoAns_ are there if there are such questions.
std::vector<std::string> squad_metric_names(bool version_2);

}  // namespace hearth::tasks
