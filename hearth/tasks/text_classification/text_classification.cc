#include "hearth/tasks/text_classification/text_classification.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/progress.h"
#include "hearth/base/shell_word.h"
#include "hearth/io/file.h"
#include "hearth/models/sentence_transformer.h"
#include "hearth/tasks/common/feature_stream.h"
#include "hearth/tasks/common/results_csv.h"
#include "hearth/tasks/text_classification/class_weights.h"
#include "hearth/tasks/text_classification/samples.h"
#include "hearth/train/evaluation.h"
#include "hearth/train/trainer_state.h"

namespace hearth::tasks {
namespace {

constexpr const char* kNumberLabel = "LABEL_0";  // transformers' name of the only output of a regression

std::string title_of(std::size_t set, const std::string& name) {
  return set == 0 ? "***** eval report *****\n" : fmt::format("***** eval report, {} *****\n", name);
}

void check_some_text(const TextSource& texts, std::int64_t blank) {
  if (blank < texts.size()) return;
  const std::vector<std::string> columns = texts.columns().texts();
  fail("{} of {} has a text in {} {}",
       texts.is_cut() ? fmt::format("none of the first {} records", texts.size()) : "no record", texts.file(),
       columns.size() == 1 ? "column" : "columns", fmt::join(columns, ", "));
}

}  // namespace

void TextClassification::load(const TaskSetting& setting) {
  const TextArguments& args = arguments();
  const bool first = setting.team.is_first();
  tokenizer_ = setting.tokenizer;
  TextData data = read(setting);
  problem_ = std::move(data.problem);
  metrics_ = std::move(data.metrics);
  std::vector<std::string> known = metrics_.keys();
  known.insert(known.begin(), "loss");
  check_best_metric(setting.training, std::move(known));
  if (problem_.is_regression()) check_not_weighted(args);
  if (!problem_.is_regression()) new_labels_ = problem_.labels.names();
  if (problem_.is_regression() && setting.config.num_labels() != 1) new_labels_ = {kNumberLabel};
  collate_options_ = collate_options(args, setting.training, *setting.tokenizer,
                                     usable_length(args.max_seq_length, *setting.tokenizer, setting.max_tokens, first));
  if (data.train) {
    train_data_ = prepared(setting, *data.train, true, std::move(data.train_order));
    has_pairs_ = data.train->has_pairs();
    log_padding(train_data_->rows(), collate_options_);
  }
  for (TextSource& texts : data.evaluation) evaluation_.push_back(prepared(setting, texts, true));
  for (TextSource& texts : data.prediction) prediction_.push_back(prepared(setting, texts, false));
  reports_.resize(evaluation_.size());
  if (train_data_ != nullptr) set_loss(args);
  if (first && setting.training.label_smoothing_factor > 0 &&
      problem_.type != models::ProblemType::single_label_classification)
    log_info("--label_smoothing_factor has no effect: it is for one label per text");
}

TextClassification::TextDatasetPtr TextClassification::prepared(const TaskSetting& setting, TextSource& texts,
                                                                bool labelled, std::vector<std::int64_t> order) const {
  FeatureStream<TextFeatures> features(texts.file(), texts.size(), setting);
  std::int64_t blank = 0;
  texts.restart();
  features.make<TextRows>(
      [&] { return texts.next(); },
      [&](const TextRows& rows) {
        TextFeatures part;
        if (labelled) part.labels = encoded_labels(rows, problem_);
        blank += blank_texts(rows);
        part.append(tokenize_texts(rows.texts(), *setting.tokenizer, collate_options_.max_seq_length));
        return part;
      });
  if (labelled) check_some_text(texts, blank);
  if (blank > 0 && setting.team.is_first())
    log_warning("{}: {} of {} records have no text; they are used as they are", texts.file(), blank, texts.size());
  auto all = std::make_shared<const TextFeatures>(features.finish());
  return std::make_shared<const TextDataset>(std::move(all), collate_options_, std::move(order));
}

void TextClassification::set_loss(const TextArguments& args) {
  loss_.focal_gamma = static_cast<float>(args.focal_gamma);
  loss_.class_weights = weights_by_label(parse_class_weights(args.class_weights), problem_, train_data_->labels());
  for (std::size_t label = 0; label < loss_.class_weights.size(); ++label)
    log_info("class weight {:.4g}: {}", loss_.class_weights[label], problem_.labels.names()[label]);
}

models::HeadSpec TextClassification::head() const {
  models::HeadSpec spec(models::HeadKind::sequence_classification);
  spec.labels = new_labels_;
  spec.problem = problem_.ranks ? models::ProblemType::multi_label_classification : problem_.type;
  spec.finetuning_task = finetuning_task();
  return spec;
}

std::vector<std::string> TextClassification::evaluation_suffixes() const {
  return evaluation_.size() > 1 ? std::vector<std::string>{"", "_mm"} : std::vector<std::string>{""};
}

Metrics TextClassification::evaluate(Trainer& trainer, std::size_t set) {
  const TextDataset& dataset = *evaluation_[set];
  const Evaluation evaluation = hearth::evaluate(trainer, dataset, "eval", kept_class_logits);
  if (!trainer.team().is_first()) return {};
  const TextPredictions predicted = predictions_of(evaluation.values, problem_);
  if (set == 0) samples_ = text_samples(problem_, dataset, predicted, *tokenizer_);
  reports_[set] = class_report(problem_, dataset.labels(), predicted);
  const Metrics scores = text_scores(metrics_, problem_, dataset.labels(), predicted);
  const bool has_correlations = scores.contains("pearson") && scores.contains("spearman");
  if (problem_.ranks && has_correlations)
    cross_encoder_csv(std::filesystem::path(trainer.arguments().output_dir) / "eval")
        .append(trainer.state().epoch, trainer.state().global_step, scores);
  return evaluation.with_scores(scores);
}

Metrics TextClassification::predict(Trainer& trainer) {
  for (std::size_t set = 0; set < prediction_.size(); ++set) {
    const Evaluation evaluation = hearth::evaluate(trainer, *prediction_[set], "predict", kept_class_logits);
    if (trainer.team().is_first())
      write_predictions(predictions_of(evaluation.values, problem_), problem_,
                        std::filesystem::path(trainer.arguments().output_dir) / prediction_file(set));
  }
  return {};
}

std::string TextClassification::report(const std::filesystem::path& output_dir) const {
  if (problem_.is_regression()) return "";
  io::Json json = reports_.front().json;
  std::string text;
  for (std::size_t set = 0; set < reports_.size(); ++set) {
    text += title_of(set, set_name(set)) + reports_[set].text;
    if (set > 0) json[set_name(set)] = reports_[set].json;
  }
  io::replace_file(output_dir / "eval_report.json", io::dump_json(json, 2) + "\n");
  return text;
}

void TextClassification::save_beside(const std::filesystem::path& folder) const {
  if (problem_.ranks) models::write_cross_encoder(collate_options_.max_seq_length, folder);
}

TaskCard TextClassification::card() const {
  const TextArguments& args = arguments();
  TaskCard card{.name = problem_.ranks ? "Text Ranking" : "Text Classification",
                .type = problem_.ranks ? "text-ranking" : "text-classification",
                .purpose = problem_.ranks             ? "the order of texts that may answer a query"
                           : problem_.is_regression() ? "text regression"
                                                      : "text classification",
                .train_file = card_name(args.train_file),
                .validation_file = card_name(args.validation_file),
                .dataset = args.dataset_name.value_or(""),
                .metrics = {}};
  for (const std::string& name : metrics_.names) card.metrics.emplace_back(name, "eval_" + name);
  return card;
}

std::string TextClassification::try_it(const std::string& model) const {
  if (problem_.ranks)
    return fmt::format("hearth rerank --model {} --query \"...\" --file texts.txt", shell_word(model));
  return fmt::format("hearth classify --model {} --text \"...\"{}", shell_word(model),
                     has_pairs_ ? " --text_pair \"...\"" : "");
}

}  // namespace hearth::tasks
