#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/data/qa_dataset.h"
#include "hearth/io/json_fwd.h"
#include "hearth/tasks/qa_postprocess.h"

namespace hearth::tasks {

// SQuAD's normalisation: lower case, no punctuation, no articles, single spaces.
std::string normalize_answer(std::string_view text);

// The metric of SQuAD 1.1: exact_match and f1 in percent. There is one prediction per example.
io::Json squad_metric(std::span<const data::QaExample> examples, std::span<const QaPrediction> predictions);
// The metric of SQuAD 2.0, where questions may have no answer: exact, f1 and total, the same for the questions with an
// answer (HasAns_) and without one (NoAns_), and the best scores over all thresholds.
io::Json squad_v2_metric(std::span<const data::QaExample> examples, std::span<const QaPrediction> predictions);
// All names that the metrics may contain; HasAns_ and NoAns_ are there if there are such questions.
std::vector<std::string> squad_metric_names(bool version_2);

}  // namespace hearth::tasks
