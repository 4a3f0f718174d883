#include "hearth/tasks/token_classification/token_classification.h"

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/shell_word.h"
#include "hearth/io/file.h"
#include "hearth/tasks/common/tokenizing.h"
#include "hearth/tasks/token_classification/dataset.h"
#include "hearth/tasks/token_classification/entity_metrics.h"
#include "hearth/tasks/token_classification/labels.h"
#include "hearth/tasks/token_classification/predictions.h"
#include "hearth/train/evaluation.h"

namespace hearth::tasks {
namespace {

void warn_of_lost_words(const TokenFeatures& features, const std::string& file, std::int64_t max_seq_length) {
  constexpr std::string_view kLost = "they are neither learned nor scored nor predicted";
  if (features.cut_words > 0)
    log_warning("{}: {} words of {} sentences are beyond max_seq_length {}; {}", file, features.cut_words,
                features.cut_rows, max_seq_length, kLost);
  if (features.empty_words > 0)
    log_warning("{}: {} words have no tokens, because they are empty or spaces; {}", file, features.empty_words, kLost);
}

bool has_label(std::span<const std::int32_t> labels) {
  return std::ranges::any_of(labels, [](std::int32_t label) { return label != kNoLabel; });
}

// A batch without labels has no loss.
TokenFeatures with_labels_only(const TokenFeatures& all, const std::string& file, bool warns) {
  TokenFeatures kept;
  kept.starts.reserve(all.starts.size());
  for (std::int64_t row = 0; row < all.rows(); ++row) {
    if (!has_label(all.labels_of(row))) continue;
    const auto add = [&](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    add(kept.ids, all.ids_of(row));
    add(kept.type_ids, all.type_ids_of(row));
    add(kept.labels, all.labels_of(row));
    kept.starts.push_back(static_cast<std::int64_t>(kept.ids.size()));
  }
  if (warns && kept.rows() < all.rows())
    log_warning("{}: {} sentences without words are left out of training", file, all.rows() - kept.rows());
  return kept;
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
    evaluation_ = load_features(setting, *args_.validation_file, args_.max_eval_samples, data::Tags::required);
  if (training.do_predict)
    prediction_ = load_features(setting, *args_.test_file, args_.max_predict_samples, data::Tags::optional);
}

void TokenClassification::load_train_data(const TaskSetting& setting) {
  TokenTable table(*args_.train_file, args_.columns(), data::Tags::required);
  labels_ = labels_to_learn(table, setting.config);
  labels_are_texts_ = !table.has_numbers();
  if (args_.label_all_tokens) align_options_.inside = labels_inside(labels_);
  if (table.has_numbers() && !setting.config.has_label_names() && setting.team.is_first())
    log_warning(
        "{}: the tags are numbers without names, so metrics take each run of equal tags as an entity; write "
        "tags as B-PER, I-PER, O to have entities scored",
        table.file());
  table.keep_first(args_.max_train_samples);
  const FeaturesPtr all = features(setting, table);
  const auto kept =
      std::make_shared<const TokenFeatures>(with_labels_only(*all, table.file(), setting.team.is_first()));
  log_padding(*kept, collate_options_);
  train_data_ = std::make_shared<const TokenDataset>(kept, collate_options_);
}

TokenClassification::FeaturesPtr TokenClassification::load_features(const TaskSetting& setting, const std::string& file,
                                                                    std::optional<std::int64_t> max_samples,
                                                                    data::Tags tags) const {
  TokenTable table(file, args_.columns(), tags);
  table.keep_first(max_samples);
  if (!table.has_tags()) log_info("{} has no tags: its words are tagged, not scored", file);
  return features(setting, table);
}

TokenClassification::FeaturesPtr TokenClassification::features(const TaskSetting& setting,
                                                               const TokenTable& table) const {
  const LabelReader reader(table, labels_, labels_are_texts_);
  AlignOptions options = align_options_;
  if (!table.has_tags()) options.inside.clear();  // one tag per word
  std::vector<AlignedTokens> sentences(static_cast<std::size_t>(table.rows()));
  for_each_row(table.file(), table.rows(), setting, [&](std::int64_t row) {
    const std::vector<std::string>& words = table.words(row);
    const std::vector<std::int64_t> labels =
        table.has_tags() ? reader.ids(row) : std::vector<std::int64_t>(words.size(), 0);
    sentences[static_cast<std::size_t>(row)] = align(words, labels, *setting.tokenizer, options);
  });
  const auto made = std::make_shared<TokenFeatures>();
  made->is_labelled = table.has_tags();
  for (const AlignedTokens& sentence : sentences) append(*made, sentence);
  check(has_label(made->labels), "{}: not one of its words has a token; give it words that are not only spaces",
        table.file());
  check_rows(*made, {std::as_bytes(std::span(made->labels))}, table.file(), setting);
  if (setting.team.is_first()) warn_of_lost_words(*made, table.file(), options.max_seq_length);
  return made;
}

models::HeadSpec TokenClassification::head() const {
  models::HeadSpec spec = models::HeadKind::token_classification;
  spec.labels = labels_.names();
  spec.finetuning_task = args_.task_name;
  return spec;
}

Metrics TokenClassification::evaluate(Trainer& trainer, std::size_t) {
  Metrics metrics;
  tag(trainer, evaluation_, "eval", metrics, scores_);
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
                .train_file = args_.train_file.value_or(""),
                .validation_file = args_.validation_file.value_or(""),
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
