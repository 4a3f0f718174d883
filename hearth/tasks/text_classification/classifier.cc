#include "hearth/tasks/text_classification/classifier.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hearth/io/json.h"
#include "hearth/ops/context.h"
#include "hearth/tasks/common/needed_head.h"
#include "hearth/tasks/common/trained_length.h"
#include "hearth/tasks/text_classification/predictions.h"

namespace hearth::tasks {
namespace {

using models::HeadKind, models::ProblemType;

constexpr double kHolds = 0.5;  // the score from which on one of several labels holds

constexpr NeededHead kNeededHead{HeadKind::sequence_classification, "text classification",
                                 "hearth run_glue or run_classification"};

std::vector<double> softmax(std::span<const float> logits) {
  const double highest = std::ranges::max(logits);
  std::vector<double> scores;
  for (const float logit : logits) scores.push_back(std::exp(logit - highest));
  const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  for (double& score : scores) score /= sum;
  return scores;
}

std::vector<double> sigmoid(std::span<const float> logits) {
  std::vector<double> scores;
  for (const float logit : logits) scores.push_back(1 / (1 + std::exp(-double{logit})));
  return scores;
}

io::Json json_of(const LabelScore& score) { return {{"label", score.label}, {"score", score.score}}; }

}  // namespace

// Braces, because they keep the order: a wrong head is noticed before anything else.
TextClassifier::TextClassifier(const std::filesystem::path& folder, const ClassifierOptions& options)
    : TextClassifier{load_with_head(folder, kNeededHead),
                     tokenizer::load_tokenizer(folder),
                     {options.max_seq_length.value_or(trained_length(folder, options.usual_length)), options.batch_size,
                      options.compute}} {}

TextClassifier::TextClassifier(std::shared_ptr<models::Pretrained> model,
                               std::shared_ptr<const tokenizer::Tokenizer> tokenizer, const ClassifierOptions& options)
    : options_(options), tokenizer_(std::move(tokenizer)), model_(std::move(model)) {
  check_head(kNeededHead, model_->head(), model_->config());
  labels_ = model_->config().label_names();
  max_length_ = std::min(
      {options.max_seq_length.value_or(options.usual_length), model_->max_positions(), tokenizer_->model_max_length()});
}

bool TextClassifier::has_several_labels() const {
  return model_->config().problem_type() == ProblemType::multi_label_classification;
}

std::vector<LabelScore> TextClassifier::scores_of(std::span<const float> logits) const {
  const bool is_regression = model_->config().problem_type() == ProblemType::regression;
  const std::vector<double> numbers = is_regression ? std::vector<double>(logits.begin(), logits.end())
                                      : has_several_labels() || logits.size() == 1 ? sigmoid(logits)
                                                                                   : softmax(logits);
  std::vector<LabelScore> scores;
  for (std::size_t label = 0; label < labels_.size(); ++label) scores.push_back({labels_[label], numbers[label]});
  std::ranges::stable_sort(scores, std::greater(), &LabelScore::score);
  return scores;
}

std::vector<std::vector<LabelScore>> TextClassifier::classify(const TextSpans& texts) {
  const TokenRows rows = tokenize_texts(texts, *tokenizer_, max_length_);
  std::vector<std::vector<LabelScore>> all;
  for (std::int64_t first = 0; first < rows.rows(); first += options_.batch_size) {
    std::vector<std::int64_t> items(static_cast<std::size_t>(std::min(options_.batch_size, rows.rows() - first)));
    std::iota(items.begin(), items.end(), first);
    const BatchPtr batch = shared_batch(collate(rows, items, 0, {}));
    ops::Context ctx;
    ctx.compute = options_.compute;
    const nn::ModelOutput output = model_->forward(ctx, batch);
    for (std::int64_t s = 0; s < std::ssize(items); ++s) all.push_back(scores_of(kept_class_logits(s, *batch, output)));
  }
  return all;
}

io::Json classification_json(const std::vector<LabelScore>& scores, std::optional<std::int64_t> top_k,
                             bool several_labels) {
  io::Json json = json_of(scores.front());
  if (several_labels) {
    json["labels"] = io::Json::array();
    for (const LabelScore& score : scores)
      if (score.score > kHolds) json["labels"].push_back(score.label);
  }
  if (!top_k) return json;
  const std::size_t shown = *top_k == 0 ? scores.size() : std::min(scores.size(), static_cast<std::size_t>(*top_k));
  json["scores"] = io::Json::array();
  for (std::size_t i = 0; i < shown; ++i) json["scores"].push_back(json_of(scores[i]));
  return json;
}

}  // namespace hearth::tasks
