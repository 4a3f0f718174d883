#include "hearth/tasks/qa_answer.h"

#include <algorithm>
#include <numeric>

#include "hearth/data/qa_dataset.h"
#include "hearth/ops/context.h"
#include "hearth/tasks/qa_collator.h"
#include "hearth/tasks/qa_logits.h"
#include "hearth/tasks/qa_preprocess.h"

namespace hearth::tasks {
namespace {

constexpr std::int64_t kWindowsPerBatch = 8;

}  // namespace

QaPrediction answer_question(nn::Model& model, const tokenizer::Tokenizer& tokenizer, const std::string& context,
                             const std::string& question, const AnswerOptions& options) {
  data::QaExample example;
  example.id = "question";
  example.context = std::make_shared<const std::string>(context);
  example.question = question;
  QaFeatureOptions feature_options;
  feature_options.max_seq_length = options.max_seq_length;
  feature_options.doc_stride = options.doc_stride;
  feature_options.whole_context = true;
  const std::span<const data::QaExample> examples(&example, 1);
  const QaFeatures features = prepare_validation_features(examples, tokenizer, feature_options);
  QaLogitsTable logits(features.size());
  const QaCollator collate(features, {});
  for (std::int64_t first = 0; first < features.size(); first += kWindowsPerBatch) {
    std::vector<std::int64_t> items(static_cast<std::size_t>(std::min(kWindowsPerBatch, features.size() - first)));
    std::iota(items.begin(), items.end(), first);
    const Batch batch = collate(items, 0);
    ops::Context ctx;
    logits.add(items, batch, model.forward(ctx, batch));
  }
  return postprocess_qa_predictions(examples, features, logits.all(), options.postprocess).front();
}

}  // namespace hearth::tasks
