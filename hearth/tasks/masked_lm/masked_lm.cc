#include "hearth/tasks/masked_lm/masked_lm.h"

#include <algorithm>
#include <cmath>

#include "hearth/base/check.h"
#include "hearth/base/shell_word.h"
#include "hearth/tasks/masked_lm/features.h"
#include "hearth/train/evaluation.h"

namespace hearth::tasks {
namespace {

constexpr std::int64_t kLongestByDefault = 1024;
constexpr std::int64_t kShortestSequence = 3;  // [CLS], a word, [SEP]

// How many tokens of a sequence were found, and how many masked.
std::vector<float> found_and_masked(std::int64_t sequence, const Batch& batch, const nn::ModelOutput& output) {
  const float* const predictions = output.logits_named("predictions").data<float>();
  const std::vector<std::int64_t>& labels = batch.labels.at("labels");
  const auto s = static_cast<std::size_t>(sequence);
  float found = 0, masked = 0;
  for (std::int64_t token = batch.starts[s]; token < batch.starts[s + 1]; ++token) {
    const std::int64_t label = labels[static_cast<std::size_t>(token)];
    if (label == kNotMasked) continue;
    masked += 1;
    found += static_cast<std::int64_t>(predictions[token]) == label ? 1.0f : 0.0f;
  }
  return {found, masked};
}

Metrics scores_of(const ItemValues& found_and_masked) {
  double found = 0, masked = 0;
  for (std::int64_t item = 0; item < found_and_masked.size(); ++item) {
    found += found_and_masked[item][0];
    masked += found_and_masked[item][1];
  }
  return {{"accuracy", found / masked}};
}

Metrics evaluated(Trainer& trainer, const Dataset& dataset, const std::string& prefix) {
  const Evaluation evaluation = hearth::evaluate(trainer, dataset, prefix, found_and_masked);
  return trainer.team().is_first() ? evaluation.with_scores(scores_of(evaluation.values)) : Metrics();
}

void check_tokenizer(const TaskSetting& setting) {
  const tokenizer::Tokenizer& tokenizer = *setting.tokenizer;
  check(tokenizer.vocab_size() <= setting.vocab_size,
        "the tokenizer of {} has {} tokens, more than the {} of the model's vocabulary: choose the tokenizer that "
        "belongs to the model, or start from nothing with --model_type",
        setting.tokenizer_folder.string(), tokenizer.vocab_size(), setting.vocab_size);
}

}  // namespace

std::int64_t MaskedLm::max_length(const TaskSetting& setting) const {
  const std::int64_t length =
      args_.max_seq_length
          ? usable_length(*args_.max_seq_length, *setting.tokenizer, setting.max_tokens, setting.team.is_first())
          : std::min({setting.tokenizer->model_max_length(), setting.max_tokens, kLongestByDefault});
  check(length >= kShortestSequence,
        "sequences of {} tokens leave no word to mask between the special tokens; give --max_seq_length {} or more",
        length, kShortestSequence);
  return length;
}

std::optional<DatasetRequest> MaskedLm::dataset(const TrainingArguments& training) {
  std::optional<DatasetRequest> request = Task::dataset(training);
  if (request && !training.do_train) request->splits.push_back(args_.train_split);
  return request;
}

void MaskedLm::take_files(const hub::DatasetFiles& files, const TrainingArguments& training) {
  const bool has_validation = files.splits.contains(args_.validation_split);
  TrainingArguments needed = training;
  needed.do_train = training.do_train || (training.do_eval && !has_validation);
  needed.do_eval = training.do_eval && has_validation;
  Task::take_files(files, needed);
}

void MaskedLm::load(const TaskSetting& setting) {
  const TrainingArguments& training = setting.training;
  check_tokenizer(setting);
  masking_ =
      std::make_shared<const Masking>(*setting.tokenizer, MaskingOptions{args_.mlm_probability, args_.whole_word_mask});
  collate_options_ = collate_options(args_, training, *setting.tokenizer, max_length(setting));
  if (training.do_train || (training.do_eval && args_.validation_file.empty())) {
    Texts train = read_texts(args_.train_file);
    if (args_.validation_file.empty()) {
      SplitTexts parts = split(std::move(train), training);
      train = std::move(parts.train);
      if (training.do_eval) evaluation_ = prepared(setting, parts.validation, args_.max_eval_samples);
    }
    if (training.do_train) train_data_ = prepared(setting, train, args_.max_train_samples);
  }
  if (training.do_eval && !args_.validation_file.empty())
    evaluation_ = prepared(setting, read_texts(args_.validation_file), args_.max_eval_samples);
  if (training.do_predict) prediction_ = prepared(setting, read_texts(args_.test_file), args_.max_predict_samples);
  if (train_data_ != nullptr) log_padding(train_data_->rows(), collate_options_);
}

SplitTexts MaskedLm::split(Texts texts, const TrainingArguments& training) const {
  const std::string file = texts.file;
  const std::int64_t rows = texts.size();
  SplitTexts parts = split_texts(std::move(texts), args_.validation_split_percentage);
  check((!training.do_train || parts.train.size() > 0) && (!training.do_eval || parts.validation.size() > 0),
        "{} has {} rows, too few to evaluate on {} % of them and to train on the others: give more rows, another "
        "--validation_split_percentage, or a --validation_file",
        file, rows, args_.validation_split_percentage);
  return parts;
}

MaskedLm::MaskedDatasetPtr MaskedLm::prepared(const TaskSetting& setting, const Texts& texts,
                                              std::optional<std::int64_t> max_samples) const {
  TokenRows rows = text_sequences(texts, args_.line_by_line ? Grouping::lines : Grouping::joined,
                                  collate_options_.max_seq_length, setting);
  if (max_samples) rows.keep_first(*max_samples);
  return std::make_shared<const MaskedDataset>(std::move(rows), masking_, setting.training.seed, collate_options_);
}

Metrics MaskedLm::evaluate(Trainer& trainer, std::size_t) { return evaluated(trainer, *evaluation_, "eval"); }

Metrics MaskedLm::derived_metrics(const Metrics& evaluated) const {
  return {{"perplexity", std::exp(evaluated.at("eval_loss"))}};
}

Metrics MaskedLm::predict(Trainer& trainer) { return evaluated(trainer, *prediction_, "predict"); }

TaskCard MaskedLm::card() const {
  return {.name = "Masked Language Modeling",
          .type = "fill-mask",
          .purpose = "masked language modelling",
          .train_file = card_name(args_.train_file),
          .validation_file = card_name(args_.validation_file.empty() ? args_.train_file : args_.validation_file),
          .dataset = args_.dataset_name.value_or(""),
          .metrics = {{"accuracy", "eval_accuracy"}}};
}

std::string MaskedLm::try_it(const std::string& model) const {
  return fmt::format("hearth run_glue --model_name_or_path {} --train_file ... --do_train --output_dir ...",
                     shell_word(model));
}

}  // namespace hearth::tasks
