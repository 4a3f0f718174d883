#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/data/qa_dataset.h"
#include "hearth/io/json_fwd.h"
#include "hearth/tasks/qa_postprocess.h"

namespace hearth::tasks {

// Lower case, without punctuation and articles, words one space apart.
std::string normalize_answer(std::string_view text);

// SQuAD's own measures of predictions, one for each example: exact_match and f1, in percent.
io::Json squad_metric(std::span<const data::QaExample> examples, std::span<const QaPrediction> predictions);
// Those of its version 2, where questions may have no answer: exact, f1, total, the same of the questions with
// (HasAns_) and without (NoAns_) an answer, and the best over all thresholds.
io::Json squad_v2_metric(std::span<const data::QaExample> examples, std::span<const QaPrediction> predictions);
// What they may give: which of HasAns_ and NoAns_ there are depends on the questions.
std::vector<std::string> squad_metric_names(bool version_2);

}  // namespace hearth::tasks
