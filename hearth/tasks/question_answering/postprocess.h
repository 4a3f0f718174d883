#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/nn/model.h"
#include "hearth/tasks/question_answering/examples.h"
#include "hearth/tasks/question_answering/features.h"
#include "hearth/train/item_values.h"

namespace hearth::tasks {

struct QaPostprocessOptions {
  bool version_2_with_negative = false;  // a question may have no answer
  int n_best_size = 20;
  int max_answer_length = 30;              // in tokens
  float null_score_diff_threshold = 0.0f;  // "no answer" must score higher than the best answer by more than this
};

// The logits of one feature. There may be more than it has tokens: logits of padding take places among the n best, as
// in run_qa.py, but give no answers.
struct QaLogits {
  std::span<const float> start, end;
};

// The numbers that an evaluation keeps of a feature, sequence `sequence` of the batch: its start logits, then its end
// logits.
std::vector<float> kept_logits(std::int64_t sequence, const Batch& batch, const nn::ModelOutput& output);
// The logits of all features. The spans are valid as long as `kept`.
std::vector<QaLogits> qa_logits(const ItemValues& kept);

struct QaCandidate {
  std::string text;
  float start_logit = 0, end_logit = 0, probability = 0;
  std::int64_t start = 0, end = 0;  // characters [start, end) of the context
};

struct QaPrediction {
  std::string id;
  std::string text;  // "" means no answer
  std::vector<QaCandidate> nbest;
  float null_odds = 0;  // with version_2_with_negative: the score of no answer minus that of the best answer
};

// One prediction per example, in order. The features come from prepare_validation_features; each has logits.
std::vector<QaPrediction> postprocess_qa_predictions(std::span<const QaExample> examples, const QaFeatures& features,
                                                     std::span<const QaLogits> logits,
                                                     const QaPostprocessOptions& options);

// Writes PREFIX_predictions.json, PREFIX_nbest_predictions.json and, with version_2_with_negative,
// PREFIX_null_odds.json. If several predictions have the same id, the last one is written.
void write_qa_predictions(std::span<const QaPrediction> predictions, const std::filesystem::path& folder,
                          std::string_view prefix, const QaPostprocessOptions& options);

}  // namespace hearth::tasks
