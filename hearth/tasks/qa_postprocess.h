#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/data/qa_dataset.h"
#include "hearth/tasks/qa_features.h"

namespace hearth::tasks {

struct QaPostprocessOptions {
  bool version_2_with_negative = false;  // a question may have no answer
  int n_best_size = 20;
  int max_answer_length = 30;              // in tokens
  float null_score_diff_threshold = 0.0f;  // no answer where it scores better than the best one by more than this
};

// What the model gives for one feature. Logits beyond its tokens are those of padding: they take places among the
// n best, as in the reference, but give no answers.
struct QaLogits {
  std::span<const float> start, end;
};

struct QaCandidate {
  std::string text;
  float start_logit = 0, end_logit = 0, probability = 0;
  std::int64_t start = 0, end = 0;  // characters [start, end) of the context
};

struct QaPrediction {
  std::string id;
  std::string text;  // "" where there is no answer
  std::vector<QaCandidate> nbest;
  float null_odds = 0;  // score of no answer less that of the best answer, with version_2_with_negative
};

// One prediction an example, in their order. The features are those of prepare_validation_features, with logits for
// each.
std::vector<QaPrediction> postprocess_qa_predictions(std::span<const data::QaExample> examples,
                                                     const QaFeatures& features, std::span<const QaLogits> logits,
                                                     const QaPostprocessOptions& options);

// Writes PREFIX_predictions.json, PREFIX_nbest_predictions.json and, with version_2_with_negative,
// PREFIX_null_odds.json. Of equal ids the last counts.
void write_qa_predictions(std::span<const QaPrediction> predictions, const std::filesystem::path& folder,
                          std::string_view prefix, const QaPostprocessOptions& options);

}  // namespace hearth::tasks
