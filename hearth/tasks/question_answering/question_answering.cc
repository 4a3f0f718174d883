#include "hearth/tasks/question_answering/question_answering.h"

#include <algorithm>

#include "hearth/base/log.h"
#include "hearth/base/progress.h"
#include "hearth/base/shell_word.h"
#include "hearth/io/sha256.h"
#include "hearth/io/user_folders.h"
#include "hearth/tasks/question_answering/dataset.h"
#include "hearth/tasks/question_answering/feature_cache.h"
#include "hearth/tasks/question_answering/postprocess.h"
#include "hearth/tasks/question_answering/squad_metric.h"
#include "hearth/train/evaluation.h"

namespace hearth::tasks {
namespace {

std::string digest_of(const QaFeatures& features) {
  io::Sha256 hash;
  for (const auto& section : features.sections()) hash.update(section);
  return fmt::format("{} features ({})", features.size(), hash.hex().substr(0, 12));
}

template <class T>
void keep_first(std::vector<T>& items, std::optional<std::int64_t> count) {
  if (count && *count < std::ssize(items)) items.resize(static_cast<std::size_t>(*count));
}

}  // namespace

void QuestionAnswering::load(const TaskSetting& setting) {
  const TrainingArguments& training = setting.training;
  if (training.label_smoothing_factor > 0 && setting.team.is_first())
    log_info("--label_smoothing_factor has no effect on question answering, as in the Trainer");
  feature_options_.max_seq_length =
      usable_length(args_.max_seq_length, *setting.tokenizer, setting.max_tokens, setting.team.is_first());
  feature_options_.doc_stride = args_.doc_stride;
  collate_options_ = collate_options(args_, training, *setting.tokenizer, feature_options_.max_seq_length);
  if (training.do_train) load_train_data(setting);
  if (training.do_eval)
    evaluation_ = load_questions(setting, *args_.validation_file, args_.max_eval_samples, QaAnswers::required);
  if (training.do_predict)
    prediction_ = load_questions(setting, *args_.test_file, args_.max_predict_samples, QaAnswers::optional);
}

QaFeatures QuestionAnswering::features(const TaskSetting& setting, QaFeatureKind kind, const std::string& file,
                                       const std::vector<QaExample>& examples, std::int64_t max_samples) const {
  const parallel::Team& team = setting.team;
  QaFeatures made = team.first_of_host_first([&] { return prepared(setting, kind, file, examples, max_samples); });
  check_vocabulary(made, setting, file);
  if (team.size() > 1)
    team.check_agreement(
        {{kind == QaFeatureKind::train ? "the training data" : "the evaluation data", digest_of(made)}});
  return made;
}

QaFeatures QuestionAnswering::prepared(const TaskSetting& setting, QaFeatureKind kind, const std::string& file,
                                       const std::vector<QaExample>& examples, std::int64_t max_samples) const {
  const parallel::Team& team = setting.team;
  const data::Cache cache(io::cache_folder() / "features");
  const data::CacheKey key = qa_cache_key(kind, file, setting.tokenizer_folder, feature_options_, max_samples);
  const QaFeatureLimits limits{kind, std::ssize(examples), setting.tokenizer->vocab_size(),
                               feature_options_.max_seq_length};
  if (!args_.overwrite_cache || !team.is_first_of_host())
    if (std::optional<QaFeatures> cached = load_features(cache, key, limits)) {
      log_info("features of {} from the cache {}", file, cache.path_of(key).string());
      return std::move(*cached);
    }
  Progress progress("tokenising " + std::filesystem::path(file).filename().string(), std::ssize(examples),
                    setting.training.disable_tqdm.value_or(false) || !team.is_first());
  const auto report = [&](std::int64_t done, std::int64_t) { progress.update(done); };
  QaFeatures made = kind == QaFeatureKind::train
                        ? prepare_train_features(examples, *setting.tokenizer, feature_options_, report)
                        : prepare_validation_features(examples, *setting.tokenizer, feature_options_, report);
  store_features(cache, key, made);
  return made;
}

void QuestionAnswering::load_train_data(const TaskSetting& setting) {
  const std::string& file = *args_.train_file;
  std::vector<QaExample> examples = read_qa_dataset(file, QaAnswers::required, setting.team.is_first());
  keep_first(examples, args_.max_train_samples);
  auto made = std::make_shared<QaFeatures>(
      features(setting, QaFeatureKind::train, file, examples, args_.max_train_samples.value_or(-1)));
  if (args_.max_train_samples) made->keep_first(*args_.max_train_samples);
  log_padding(*made, collate_options_);
  train_data_ = std::make_shared<const QaDataset>(std::move(made), collate_options_);
}

QuestionAnswering::Questions QuestionAnswering::load_questions(const TaskSetting& setting, const std::string& file,
                                                               std::optional<std::int64_t> max_samples,
                                                               QaAnswers answers) const {
  Questions result;
  result.examples = read_qa_dataset(file, answers, setting.team.is_first());
  keep_first(result.examples, max_samples);
  auto made = std::make_shared<QaFeatures>(
      features(setting, QaFeatureKind::validation, file, result.examples, max_samples.value_or(-1)));
  if (max_samples) made->keep_first(*max_samples);
  result.features = std::move(made);
  const auto has_answer = [](const QaExample& example) { return !example.answers.empty(); };
  result.scored = answers == QaAnswers::required || std::ranges::any_of(result.examples, has_answer);
  if (!result.scored) log_info("{} has no answers: its questions are answered, not scored", file);
  return result;
}

Metrics QuestionAnswering::evaluate(Trainer& trainer, std::size_t) {
  return answer(trainer, evaluation_, "eval", "eval");
}

Metrics QuestionAnswering::predict(Trainer& trainer) {
  Metrics metrics = answer(trainer, prediction_, "predict", "test");
  metrics.set("predict_samples", prediction_.features->size());
  return metrics;
}

Metrics QuestionAnswering::answer(Trainer& trainer, const Questions& questions, const std::string& file_prefix,
                                  const std::string& metric_prefix) const {
  const QaDataset dataset(questions.features, collate_options_);
  const Evaluation evaluation = hearth::evaluate(trainer, dataset, metric_prefix, kept_logits);
  if (!trainer.team().is_first()) return {};

  QaPostprocessOptions options;
  options.version_2_with_negative = args_.version_2_with_negative;
  options.n_best_size = static_cast<int>(args_.n_best_size);
  options.max_answer_length = static_cast<int>(args_.max_answer_length);
  options.null_score_diff_threshold = static_cast<float>(args_.null_score_diff_threshold);
  const std::vector<QaPrediction> predictions =
      postprocess_qa_predictions(questions.examples, *questions.features, qa_logits(evaluation.values), options);
  write_qa_predictions(predictions, trainer.arguments().output_dir, file_prefix, options);

  Metrics scores;
  if (questions.scored)
    scores = options.version_2_with_negative ? squad_v2_metric(questions.examples, predictions)
                                             : squad_metric(questions.examples, predictions);
  return evaluation.with_scores(scores);
}

TaskCard QuestionAnswering::card() const {
  return {.name = "Question Answering",
          .type = "question-answering",
          .purpose = "extractive question answering",
          .train_file = args_.train_file.value_or(""),
          .validation_file = args_.validation_file.value_or(""),
          .dataset = args_.dataset_name.value_or(""),
          .metrics = {{"exact_match", "eval_exact_match"}, {"exact_match", "eval_exact"}, {"f1", "eval_f1"}}};
}

std::string QuestionAnswering::try_it(const std::string& model) const {
  return fmt::format("hearth ask --model {} --context_text \"...\" --question \"...\"", shell_word(model));
}

}  // namespace hearth::tasks
