#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hearth/base/dtype.h"
#include "hearth/io/json_fwd.h"
#include "hearth/models/pretrained.h"
#include "hearth/tasks/common/text_features.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tasks {

struct LabelScore {
  std::string label;
  double score = 0;
};

struct ClassifierOptions {
  std::optional<std::int64_t> max_seq_length;  // not given: as the model was trained
  std::int64_t batch_size = 32;
  DType compute = DType::f32;
  std::int64_t usual_length = 128;  // where the model does not say how it was trained
};

// A fine-tuned model that classifies texts as transformers' text-classification pipeline does: softmax over the labels;
// sigmoid where several labels may hold, or where the only label's problem type is unknown; the plain number of a
// regression.
class TextClassifier {
 public:
  TextClassifier(const std::filesystem::path& folder, const ClassifierOptions& options);
  // A model that is loaded already; max_seq_length: usual_length if it is not given.
  TextClassifier(std::shared_ptr<models::Pretrained> model, std::shared_ptr<const tokenizer::Tokenizer> tokenizer,
                 const ClassifierOptions& options);

  // For each text the scores of all labels, best first.
  std::vector<std::vector<LabelScore>> classify(const TextSpans& texts);
  bool has_several_labels() const;
  std::int64_t label_count() const { return static_cast<std::int64_t>(labels_.size()); }

 private:
  std::vector<LabelScore> scores_of(std::span<const float> logits) const;

  ClassifierOptions options_;
  std::int64_t max_length_ = 0;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::shared_ptr<models::Pretrained> model_;
  std::vector<std::string> labels_;
};

// {"label": ..., "score": ...} of the best label; with `top_k` also "scores", the best top_k (0: all); where several
// labels may hold, "labels" are those whose score is above 0.5.
io::Json classification_json(const std::vector<LabelScore>& scores, std::optional<std::int64_t> top_k,
                             bool several_labels);

}  // namespace hearth::tasks
