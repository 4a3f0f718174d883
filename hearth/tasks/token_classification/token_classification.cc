#include "hearth/tasks/token_classification/token_classification.h"

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/shell_word.h"
#include "hearth/cpu/parallel.h"
#include "hearth/io/file.h"
#include "hearth/tasks/common/feature_stream.h"
#include "hearth/tasks/token_classification/dataset.h"
#include "hearth/tasks/token_classification/entity_metrics.h"
#include "hearth/tasks/token_classification/labels.h"
#include "hearth/tasks/token_classification/predictions.h"
#include "hearth/tasks/token_classification/samples.h"
#include "hearth/train/evaluation.h"

namespace hearth::tasks {
namespace {

void warn_of_lost_words(const LostWords& lost, const std::string& file, std::int64_t max_seq_length) {
  constexpr std::string_view kLost = "they are neither learned nor scored nor predicted";
  if (lost.cut_words > 0)
    log_warning("{}: {} words of {} sentences are beyond max_seq_length {}; {}", file, lost.cut_words, lost.cut_rows,
                max_seq_length, kLost);
  if (lost.empty_words > 0)
    log_warning("{}: {} words have no tokens, because they are empty or spaces; {}", file, lost.empty_words, kLost);
}

bool has_label(std::span<const std::int32_t> labels) {
  return std::ranges::any_of(labels, [](std::int32_t label) { return label != kNoLabel; });
}

}  // namespace

std::int64_t TokenClassification::max_length(const TaskSetting& setting) const {
  const tokenizer::Tokenizer& tokenizer = *setting.tokenizer;
  const std::int64_t length = args_.max_seq_length ? usable_length(*args_.max_seq_length, tokenizer, setting.max_tokens,
                                                                   setting.team.is_first())
                                                   : std::min(tokenizer.model_max_length(), setting.max_tokens);
  check(length > tokenizer.special_tokens(false),
        "max_seq_length {} leaves no room for words beside {} special tokens; raise --max_seq_length", length,
        tokenizer.special_tokens(false));
  return length;
}

void TokenClassification::load(const TaskSetting& setting) {
  const TrainingArguments& training = setting.training;
  tokenizer_ = setting.tokenizer;
  align_options_.max_seq_length = max_length(setting);
  collate_options_ = collate_options(args_, training, *setting.tokenizer, align_options_.max_seq_length);
  if (training.do_train) {
    load_train_data(setting);
  } else {
    labels_ = LabelMap(setting.config.label_names());
  }
  if (args_.return_entity_level_metrics) check_best_metric(training, entity_metric_names(labels_.names(), true));
  if (args_.label_all_tokens) align_options_.inside = labels_inside(labels_);
  if (training.do_eval)
    evaluation_ =
        load_features(setting, data::files_of(args_.validation_file), args_.max_eval_samples, data::Tags::required);
  if (training.do_predict)
    prediction_ =
        load_features(setting, data::files_of(args_.test_file), args_.max_predict_samples, data::Tags::optional);
}

void TokenClassification::load_train_data(const TaskSetting& setting) {
  TokenSource source(data::files_of(args_.train_file), args_.columns(), data::Tags::required);
  TagNames names;
  while (const std::optional<TokenTable> part = source.next()) names.add(*part);
  labels_ = names.labels(setting.config);
  labels_are_texts_ = names.have_names();
  if (args_.label_all_tokens) align_options_.inside = labels_inside(labels_);
  if (!names.have_names() && !setting.config.has_label_names() && setting.team.is_first())
    log_warning(
        "{}: the tags are numbers without names, so metrics take each run of equal tags as an entity; write "
        "tags as B-PER, I-PER, O to have entities scored",
        source.file());
  source.keep_first(args_.max_train_samples);
  FeaturesPtr features = this->features(setting, source, Unlabelled::left_out);
  log_padding(*features, collate_options_);
  train_data_ = std::make_shared<const TokenDataset>(std::move(features), collate_options_);
}

TokenClassification::FeaturesPtr TokenClassification::load_features(const TaskSetting& setting,
                                                                    const data::Files& files,
                                                                    std::optional<std::int64_t> max_samples,
                                                                    data::Tags tags) const {
  TokenSource source(files, args_.columns(), tags);
  source.keep_first(max_samples);
  if (!source.has_tags()) log_info("{} has no tags: its words are tagged, not scored", source.file());
  return features(setting, source, Unlabelled::kept);
}

TokenClassification::FeaturesPtr TokenClassification::features(const TaskSetting& setting, TokenSource& source,
                                                               Unlabelled unlabelled) const {
  AlignOptions options = align_options_;
  if (!source.has_tags()) options.inside.clear();  // one tag per word
  FeatureStream<TokenFeatures> stream(source.file(), source.size(), setting);
  LostWords lost;
  std::int64_t left_out = 0, rows = 0;
  source.restart();
  stream.make<TokenTable>([&] { return source.next(); },
                          [&](const TokenTable& table) {
                            TokenFeatures part;
                            for (const AlignedTokens& sentence : aligned(table, *setting.tokenizer, options)) {
                              lost.add(sentence);
                              const bool is_kept = unlabelled == Unlabelled::kept || has_label(sentence.labels);
                              if (is_kept) append(part, sentence);
                              left_out += is_kept ? 0 : 1;
                              rows += has_label(sentence.labels) ? 1 : 0;
                            }
                            return part;
                          });
  check(rows > 0, "{}: not one of its words has a token; give it words that are not only spaces", source.file());
  if (setting.team.is_first()) {
    warn_of_lost_words(lost, source.file(), options.max_seq_length);
    if (left_out > 0) log_warning("{}: {} sentences without words are left out of training", source.file(), left_out);
  }
  TokenFeatures made = stream.finish();
  made.is_labelled = source.has_tags();
  return std::make_shared<const TokenFeatures>(std::move(made));
}

std::vector<AlignedTokens> TokenClassification::aligned(const TokenTable& table, const tokenizer::Tokenizer& tokenizer,
                                                        const AlignOptions& options) const {
  const LabelReader reader(table, labels_, labels_are_texts_);
  std::vector<AlignedTokens> sentences(static_cast<std::size_t>(table.rows()));
  constexpr std::int64_t kRowsPerTask = 256;
  cpu::parallel_chunks(table.rows(), kRowsPerTask, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::vector<std::string>& words = table.words(row);
      const std::vector<std::int64_t> labels =
          table.has_tags() ? reader.ids(row) : std::vector<std::int64_t>(words.size(), 0);
      sentences[static_cast<std::size_t>(row)] = align(words, labels, tokenizer, options);
    }
  });
  return sentences;
}

models::HeadSpec TokenClassification::head() const {
  models::HeadSpec spec = models::HeadKind::token_classification;
  spec.labels = labels_.names();
  spec.finetuning_task = args_.task_name;
  return spec;
}

Metrics TokenClassification::evaluate(Trainer& trainer, std::size_t) {
  Metrics metrics;
  const Tags predicted = tag(trainer, evaluation_, "eval", metrics, scores_);
  if (trainer.team().is_first())
    samples_ = tag_samples(*evaluation_, true_tags(*evaluation_, labels_), predicted, *tokenizer_);
  return metrics;
}

Metrics TokenClassification::predict(Trainer& trainer) {
  Metrics metrics;
  metrics::EntityScores scores;
  const Tags tags = tag(trainer, prediction_, "predict", metrics, scores);
  if (trainer.team().is_first())
    write_tags(tags, std::filesystem::path(trainer.arguments().output_dir) / "predictions.txt");
  return metrics;
}

TokenClassification::Tags TokenClassification::tag(Trainer& trainer, const FeaturesPtr& features,
                                                   const std::string& prefix, Metrics& metrics,
                                                   metrics::EntityScores& scores) const {
  const TokenDataset dataset(features, collate_options_);
  const Evaluation evaluation = hearth::evaluate(trainer, dataset, prefix, kept_labels);
  if (!trainer.team().is_first()) return {};
  Tags predicted = predicted_tags(*features, evaluation.values, labels_);
  Metrics task_scores;
  if (features->is_labelled) {
    scores = metrics::entity_scores(true_tags(*features, labels_), predicted);
    task_scores = entity_metrics(scores, args_.return_entity_level_metrics);
  }
  metrics = evaluation.with_scores(task_scores);
  return predicted;
}

std::string TokenClassification::report(const std::filesystem::path&) const { return entity_table(scores_); }

TaskCard TokenClassification::card() const {
  TaskCard card{.name = "Token Classification",
                .type = "token-classification",
                .purpose = "token classification",
                .train_file = card_name(args_.train_file),
                .validation_file = card_name(args_.validation_file),
                .dataset = args_.dataset_name.value_or(""),
                .metrics = {}};
  const std::string prefix = args_.return_entity_level_metrics ? "eval_overall_" : "eval_";
  for (const char* name : {"precision", "recall", "f1", "accuracy"}) card.metrics.emplace_back(name, prefix + name);
  return card;
}

std::string TokenClassification::try_it(const std::string& model) const {
  // Later tokens of a word were not trained.
  const char* strategy = args_.label_all_tokens ? "" : " --aggregation_strategy first";
  return fmt::format("hearth tag --model {}{} --text \"...\"", shell_word(model), strategy);
}

}  // namespace hearth::tasks
