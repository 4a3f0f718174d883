#include "hearth/tasks/question_answering.h"

#include <algorithm>

#include "hearth/base/log.h"
#include "hearth/data/sha256.h"
#include "hearth/io/hub_cache.h"
#include "hearth/tasks/qa_cache.h"
#include "hearth/tasks/qa_logits.h"
#include "hearth/tasks/squad_metric.h"
#include "hearth/train/results.h"

namespace hearth::tasks {
namespace {

constexpr std::int64_t kFp16Multiple = 8;  // run_qa.py's pad_to_multiple_of with fp16

// As run_qa.py: clamps to the tokenizer's model_max_length with a warning; exceeding the model's positions is an error.
std::int64_t usable_length(std::int64_t wanted, const tokenizer::Tokenizer& tokenizer, std::int64_t model_positions,
                           bool warns) {
  std::int64_t length = wanted;
  if (length > tokenizer.model_max_length()) {
    length = tokenizer.model_max_length();
    if (warns) log_warning("max_seq_length {} is beyond the tokenizer's model_max_length; using {}", wanted, length);
  }
  check(length <= model_positions, "max_seq_length {} is beyond the model's {} positions; give --max_seq_length {}",
        length, model_positions, model_positions);
  return length;
}

std::string digest_of(const QaFeatures& features) {
  data::Sha256 hash;
  for (const auto& section : features.sections()) hash.update(section);
  return fmt::format("{} features ({})", features.size(), hash.hex().substr(0, 12));
}

template <class T>
void keep_first(std::vector<T>& items, std::optional<std::int64_t> count) {
  if (count && *count < std::ssize(items)) items.resize(static_cast<std::size_t>(*count));
}

}  // namespace

QuestionAnswering::QuestionAnswering(const RunQaArguments& args, std::shared_ptr<const tokenizer::Tokenizer> tokenizer,
                                     std::filesystem::path tokenizer_folder, ModelLimits model, parallel::Team team)
    : args_(args),
      tokenizer_(std::move(tokenizer)),
      tokenizer_folder_(std::move(tokenizer_folder)),
      model_(model),
      team_(std::move(team)) {
  feature_options_.max_seq_length =
      usable_length(args_.data.max_seq_length, *tokenizer_, model_.positions, team_.is_first());
  feature_options_.doc_stride = args_.data.doc_stride;
}

QaFeatures QuestionAnswering::features(QaFeatureKind kind, const std::string& file,
                                       const std::vector<data::QaExample>& examples, std::int64_t max_samples) const {
  QaFeatures made = team_.first_of_host_first([&] { return prepared(kind, file, examples, max_samples); });
  const std::int32_t largest = made.ids.empty() ? 0 : std::ranges::max(made.ids);
  check(largest < model_.vocabulary,
        "{} is not this model's tokenizer: {} has the token {}, and the model's vocabulary ends at {}",
        tokenizer_folder_.string(), file, largest, model_.vocabulary - 1);
  if (team_.size() > 1)
    team_.check_agreement(
        {{kind == QaFeatureKind::train ? "the training data" : "the evaluation data", digest_of(made)}});
  return made;
}

QaFeatures QuestionAnswering::prepared(QaFeatureKind kind, const std::string& file,
                                       const std::vector<data::QaExample>& examples, std::int64_t max_samples) const {
  const data::Cache cache(io::cache_folder() / "features");
  const data::CacheKey key = qa_cache_key(kind, file, tokenizer_folder_, feature_options_, max_samples);
  if (!args_.data.overwrite_cache || !team_.is_first_of_host())
    if (std::optional<QaFeatures> cached = load_features(cache, key)) {
      log_info("features of {} from the cache {}", file, cache.path_of(key).string());
      return std::move(*cached);
    }
  Progress progress("tokenising " + std::filesystem::path(file).filename().string(), std::ssize(examples),
                    args_.training.disable_tqdm.value_or(false) || !team_.is_first());
  const auto report = [&](std::int64_t done, std::int64_t) { progress.update(done); };
  QaFeatures made = kind == QaFeatureKind::train
                        ? prepare_train_features(examples, *tokenizer_, feature_options_, report)
                        : prepare_validation_features(examples, *tokenizer_, feature_options_, report);
  store_features(cache, key, made);
  return made;
}

QaCollatorOptions QuestionAnswering::collator_options() const {
  QaCollatorOptions options;
  options.max_seq_length = feature_options_.max_seq_length;
  options.pad_id = tokenizer_->pad_id();
  if (args_.data.pad_to_max_length)
    options.padding = *args_.data.pad_to_max_length ? Padding::max_length : Padding::longest;
  if (args_.training.fp16) options.pad_to_multiple_of = kFp16Multiple;
  return options;
}

Dataset QuestionAnswering::train_data() {
  const std::string& file = *args_.data.train_file;
  std::vector<data::QaExample> examples = data::read_qa_dataset(file, data::QaAnswers::required, team_.is_first());
  keep_first(examples, args_.data.max_train_samples);
  train_features_ = features(QaFeatureKind::train, file, examples, args_.data.max_train_samples.value_or(-1));
  if (args_.data.max_train_samples) train_features_.keep_first(*args_.data.max_train_samples);
  const QaCollatorOptions options = collator_options();
  const auto padded = train_features_.size() * options.max_seq_length;
  switch (options.padding) {
    case Padding::packed:
      log_info(
          "packed batches: {} tokens in {} features, no padding ({:.0f}% of padded positions); "
          "--pad_to_max_length True computes the padding as the Trainer does",
          train_features_.tokens(), train_features_.size(),
          100.0 * static_cast<double>(train_features_.tokens()) /
              static_cast<double>(std::max<std::int64_t>(1, padded)));
      break;
    case Padding::longest:
      log_info("batches padded to their longest sequence, as asked for");
      break;
    case Padding::max_length:
      log_info("batches padded to {} positions, as asked for", options.max_seq_length);
      break;
  }
  Dataset dataset;
  dataset.size = train_features_.size();
  dataset.lengths = train_features_.lengths();
  dataset.collate = QaCollator(train_features_, options);
  return dataset;
}

QuestionAnswering::Questions QuestionAnswering::questions(const std::string& file,
                                                          std::optional<std::int64_t> max_samples,
                                                          data::QaAnswers answers) const {
  Questions result;
  result.examples = data::read_qa_dataset(file, answers, team_.is_first());
  keep_first(result.examples, max_samples);
  result.features = features(QaFeatureKind::validation, file, result.examples, max_samples.value_or(-1));
  if (max_samples) result.features.keep_first(*max_samples);
  const auto has_answer = [](const data::QaExample& example) { return !example.answers.empty(); };
  result.scored = answers == data::QaAnswers::required || std::ranges::any_of(result.examples, has_answer);
  if (!result.scored) log_info("{} has no answers: its questions are answered, not scored", file);
  return result;
}

QuestionAnswering::Questions QuestionAnswering::evaluation_questions() const {
  return questions(*args_.data.validation_file, args_.data.max_eval_samples, data::QaAnswers::required);
}

QuestionAnswering::Questions QuestionAnswering::prediction_questions() const {
  return questions(*args_.data.test_file, args_.data.max_predict_samples, data::QaAnswers::optional);
}

io::Json QuestionAnswering::answer(Trainer& trainer, const Questions& questions, const std::string& file_prefix,
                                   const std::string& metric_prefix) const {
  const MemoryStage stage(trainer.memory(), metric_prefix);
  const Timer timer;
  const QaFeatures& features = questions.features;
  Dataset dataset;
  dataset.size = features.size();
  dataset.collate = QaCollator(features, collator_options());
  QaLogitsTable logits(features.size());
  trainer.predict(dataset, [&](std::span<const std::int64_t> items, const Batch& batch, const nn::ModelOutput& output) {
    logits.add(items, batch, output);
  });
  logits.gather(team_);
  const double seconds = timer.seconds();  // without post-processing, as trainer_qa.py
  if (!team_.is_first()) return io::Json::object();

  QaPostprocessOptions options;
  options.version_2_with_negative = args_.data.version_2_with_negative;
  options.n_best_size = static_cast<int>(args_.data.n_best_size);
  options.max_answer_length = static_cast<int>(args_.data.max_answer_length);
  options.null_score_diff_threshold = static_cast<float>(args_.data.null_score_diff_threshold);
  const std::vector<QaPrediction> predictions =
      postprocess_qa_predictions(questions.examples, features, logits.all(), options);
  write_qa_predictions(predictions, args_.training.output_dir, file_prefix, options);

  io::Json metrics = io::Json::object();
  if (questions.scored) {
    const io::Json scores = options.version_2_with_negative ? squad_v2_metric(questions.examples, predictions)
                                                            : squad_metric(questions.examples, predictions);
    for (const auto& [name, value] : scores.items()) metrics[metric_prefix + "_" + name] = value;
  }
  if (!args_.training.do_train)
    metrics[metric_prefix + "_model_preparation_time"] = rounded(trainer.preparation_seconds(), 4);
  const std::int64_t round = args_.training.per_device_eval_batch_size * team_.size();
  const std::int64_t batches = (features.size() + round - 1) / round;
  add_speed_metrics(metrics, metric_prefix, seconds, static_cast<double>(features.size()),
                    static_cast<double>(batches));
  stage.add_to(metrics);
  return metrics;
}

}  // namespace hearth::tasks
