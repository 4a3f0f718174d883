#include "hearth/tasks/question_answering/question_answering.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "hearth/base/log.h"
#include "hearth/base/progress.h"
#include "hearth/base/shell_word.h"
#include "hearth/io/growing_file.h"
#include "hearth/io/sha256.h"
#include "hearth/io/user_folders.h"
#include "hearth/tasks/common/feature_stream.h"
#include "hearth/tasks/question_answering/dataset.h"
#include "hearth/tasks/question_answering/feature_cache.h"
#include "hearth/tasks/question_answering/postprocess.h"
#include "hearth/tasks/question_answering/samples.h"
#include "hearth/tasks/question_answering/squad_metric.h"
#include "hearth/train/evaluation.h"

namespace hearth::tasks {
namespace {

std::string digest_of(const QaFeatures& features) {
  io::Sha256 hash;
  for (const data::Section& section : features.sections()) {
    hash.update(section.bytes);
    if (section.is_mapped) io::release_pages(section.bytes);
  }
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
    evaluation_ =
        load_questions(setting, data::files_of(args_.validation_file), args_.max_eval_samples, QaAnswers::required);
  if (training.do_predict)
    prediction_ =
        load_questions(setting, data::files_of(args_.test_file), args_.max_predict_samples, QaAnswers::optional);
}

QaFeatures QuestionAnswering::features(const TaskSetting& setting, const data::Files& files,
                                       const QaFeatureLimits& limits, std::int64_t max_samples,
                                       const std::function<QaFeatures()>& make) const {
  const parallel::Team& team = setting.team;
  const data::Cache cache(io::cache_folder() / "features");
  const data::CacheKey key = qa_cache_key(limits.kind, files, setting.tokenizer_folder, feature_options_, max_samples);
  QaFeatures made = team.first_of_host_first([&] {
    if (!args_.overwrite_cache || !team.is_first_of_host())
      if (std::optional<QaFeatures> cached = load_features(cache, key, limits)) {
        log_info("features of {} from the cache {}", data::name_of(files), cache.path_of(key).string());
        return std::move(*cached);
      }
    QaFeatures fresh = make();
    store_features(cache, key, fresh);
    return fresh;
  });
  check_vocabulary(made, setting, data::name_of(files));
  if (team.size() > 1)
    team.check_agreement(
        {{limits.kind == QaFeatureKind::train ? "the training data" : "the evaluation data", digest_of(made)}});
  return made;
}

void QuestionAnswering::load_train_data(const TaskSetting& setting) {
  const data::Files files = data::files_of(args_.train_file);
  constexpr std::int64_t kAnyNumber = -1;
  const QaFeatureLimits limits{QaFeatureKind::train, kAnyNumber, setting.tokenizer->vocab_size(),
                               feature_options_.max_seq_length};
  auto made = std::make_shared<QaFeatures>(features(setting, files, limits, args_.max_train_samples.value_or(-1),
                                                    [&] { return train_features(setting, files); }));
  if (args_.max_train_samples) made->keep_first(*args_.max_train_samples);
  log_padding(*made, collate_options_);
  train_data_ = std::make_shared<const QaDataset>(std::move(made), collate_options_);
}

// Questions are read, tokenized and written part by part: memory does not grow with the file.
QaFeatures QuestionAnswering::train_features(const TaskSetting& setting, const data::Files& files) const {
  QaSource source(files, QaAnswers::required);
  std::int64_t read = 0, prepared = 0;
  const auto next = [&]() -> std::optional<std::vector<QaExample>> {
    const std::int64_t left = args_.max_train_samples.value_or(std::numeric_limits<std::int64_t>::max()) - read;
    std::optional<std::vector<QaExample>> part = left > 0 ? source.next() : std::nullopt;
    if (part) keep_first(*part, left);
    if (part) read += std::ssize(*part);
    return part;
  };
  FeatureStream<QaFeatures> stream(data::name_of(files), source.size().value_or(0), setting, Checks::by_caller);
  stream.make<std::vector<QaExample>>(next, [&](const std::vector<QaExample>& part) {
    const std::int64_t first = std::exchange(prepared, prepared + std::ssize(part));
    return prepare_train_part(part, first, *setting.tokenizer, feature_options_);
  });
  if (setting.team.is_first()) source.warn();
  QaFeatures features = stream.finish();
  check_trainable(features, prepared);
  return features;
}

QuestionAnswering::Questions QuestionAnswering::load_questions(const TaskSetting& setting, const data::Files& files,
                                                               std::optional<std::int64_t> max_samples,
                                                               QaAnswers answers) const {
  Questions result;
  result.examples = read_qa_dataset(files, answers, setting.team.is_first());
  keep_first(result.examples, max_samples);
  const QaFeatureLimits limits{QaFeatureKind::validation, std::ssize(result.examples), setting.tokenizer->vocab_size(),
                               feature_options_.max_seq_length};
  const auto prepare = [&] {
    Progress progress("tokenising " + files.front().filename().string(), std::ssize(result.examples),
                      setting.training.disable_tqdm.value_or(false) || !setting.team.is_first());
    return prepare_validation_features(result.examples, *setting.tokenizer, feature_options_,
                                       [&](std::int64_t done, std::int64_t) { progress.update(done); });
  };
  auto made = std::make_shared<QaFeatures>(features(setting, files, limits, max_samples.value_or(-1), prepare));
  if (max_samples) made->keep_first(*max_samples);
  result.features = std::move(made);
  const auto has_answer = [](const QaExample& example) { return !example.answers.empty(); };
  result.scored = answers == QaAnswers::required || std::ranges::any_of(result.examples, has_answer);
  if (!result.scored) log_info("{} has no answers: its questions are answered, not scored", data::name_of(files));
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
                                  const std::string& metric_prefix) {
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

  if (&questions == &evaluation_) samples_ = qa_samples(questions.examples, predictions);
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
          .train_file = card_name(args_.train_file),
          .validation_file = card_name(args_.validation_file),
          .dataset = args_.dataset_name.value_or(""),
          .metrics = {{"exact_match", "eval_exact_match"}, {"exact_match", "eval_exact"}, {"f1", "eval_f1"}}};
}

std::string QuestionAnswering::try_it(const std::string& model) const {
  return fmt::format("hearth ask --model {} --context_text \"...\" --question \"...\"", shell_word(model));
}

}  // namespace hearth::tasks
