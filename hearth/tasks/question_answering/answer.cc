#include "hearth/tasks/question_answering/answer.h"

#include <algorithm>
#include <numeric>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/ops/context.h"
#include "hearth/tasks/common/trained_length.h"
#include "hearth/tasks/question_answering/answer_options.h"
#include "hearth/tasks/question_answering/dataset.h"
#include "hearth/tasks/question_answering/examples.h"
#include "hearth/tasks/question_answering/preprocess.h"

namespace hearth::tasks {
namespace {

constexpr std::int64_t kWindowsPerBatch = 8;

io::Json answer_json(const QaCandidate& answer) {
  return {{"score", static_cast<double>(answer.probability)},
          {"start", answer.start},
          {"end", answer.end},
          {"answer", answer.text}};
}

}  // namespace

AnswerOptions trained_options(const std::filesystem::path& folder) {
  AnswerOptions options;
  const std::filesystem::path path = folder / "training_args.json";
  if (!std::filesystem::exists(path)) return options;
  const std::string file = path.string();
  const io::Json trained = io::read_json(path);
  const auto whole = [&](std::string_view key, std::int64_t otherwise) {
    const std::int64_t value = io::get_int_or(trained, key, otherwise, file);
    check(value >= 0 && value <= kLargestCount, "{}: {} is {}, out of range", file, key, value);
    return value;
  };
  QaPostprocessOptions& postprocess = options.postprocess;
  options.max_seq_length = trained_length(folder, options.max_seq_length);
  options.doc_stride = whole("doc_stride", options.doc_stride);
  postprocess.max_answer_length = static_cast<int>(whole("max_answer_length", postprocess.max_answer_length));
  postprocess.n_best_size = static_cast<int>(whole("n_best_size", postprocess.n_best_size));
  postprocess.version_2_with_negative = io::get_bool_or(trained, "version_2_with_negative", false, file);
  postprocess.null_score_diff_threshold =
      static_cast<float>(io::get_double_or(trained, "null_score_diff_threshold", 0, file));
  return options;
}

QaPrediction answer_question(nn::Model& model, const tokenizer::Tokenizer& tokenizer, const std::string& context,
                             const std::string& question, const AnswerOptions& options) {
  QaExample example;
  example.context = std::make_shared<const std::string>(context);
  example.question = question;
  QaFeatureOptions feature_options;
  feature_options.max_seq_length = options.max_seq_length;
  feature_options.doc_stride = options.doc_stride;
  const std::span<const QaExample> examples(&example, 1);
  const auto features =
      std::make_shared<const QaFeatures>(prepare_validation_features(examples, tokenizer, feature_options));
  ItemValues logits(features->size());
  const QaDataset dataset(features, {});
  for (std::int64_t first = 0; first < features->size(); first += kWindowsPerBatch) {
    std::vector<std::int64_t> items(static_cast<std::size_t>(std::min(kWindowsPerBatch, features->size() - first)));
    std::iota(items.begin(), items.end(), first);
    const BatchPtr batch = dataset.collate(items, 0);
    ops::Context ctx;
    const nn::ModelOutput output = model.forward(ctx, batch);
    for (std::size_t s = 0; s < items.size(); ++s)
      logits.set(items[s], kept_logits(static_cast<std::int64_t>(s), *batch, output));
  }
  return postprocess_qa_predictions(examples, *features, qa_logits(logits), options.postprocess).front();
}

std::vector<QaCandidate> best_answers(const QaPrediction& prediction, std::size_t count) {
  std::vector<QaCandidate> answers = prediction.nbest;
  const auto predicted = std::ranges::find(answers, prediction.text, &QaCandidate::text);
  if (predicted != answers.end()) std::rotate(answers.begin(), predicted, predicted + 1);
  answers.resize(std::min(answers.size(), count));
  for (QaCandidate& answer : answers)
    if (answer.end == 0) answer.text.clear();  // the reference says "empty" where nothing can be an answer
  return answers;
}

io::Json answers_json(const std::string& question, const std::vector<QaCandidate>& answers) {
  io::Json json{{"question", question}};
  json.update(answer_json(answers.front()));
  json["n_best"] = io::Json::array();
  for (const QaCandidate& answer : answers) json["n_best"].push_back(answer_json(answer));
  return json;
}

}  // namespace hearth::tasks
