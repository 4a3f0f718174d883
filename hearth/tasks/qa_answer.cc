#include "hearth/tasks/qa_answer.h"

#include <numeric>

#include "hearth/data/qa_dataset.h"
#include "hearth/tasks/qa_collator.h"
#include "hearth/tasks/qa_preprocess.h"

namespace hearth::tasks {

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
  std::vector<std::int64_t> items(static_cast<std::size_t>(features.size()));
  std::iota(items.begin(), items.end(), 0);
  const Batch batch = QaCollator(features, {})(items, 0);
  ops::Context ctx;
  const nn::ModelOutput output = model.forward(ctx, batch);
  const float* start = output.logits[0].second.value().data<float>();
  const float* end = output.logits[1].second.value().data<float>();
  std::vector<QaLogits> logits;
  for (std::size_t f = 0; f < items.size(); ++f) {
    const auto begin = batch.starts[f], length = batch.starts[f + 1] - begin;
    logits.push_back(
        {{start + begin, static_cast<std::size_t>(length)}, {end + begin, static_cast<std::size_t>(length)}});
  }
  return postprocess_qa_predictions(examples, features, logits, options.postprocess).front();
}

}  // namespace hearth::tasks
