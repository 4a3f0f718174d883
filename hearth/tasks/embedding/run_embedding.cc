#include "hearth/tasks/embedding/run_embedding.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/progress.h"
#include "hearth/base/shell_word.h"
#include "hearth/data/table.h"
#include "hearth/io/file.h"
#include "hearth/metrics/regression.h"
#include "hearth/models/family.h"
#include "hearth/tasks/common/name_list.h"
#include "hearth/tasks/common/results_csv.h"
#include "hearth/tasks/common/tokenizing.h"
#include "hearth/tasks/embedding/team_exchange.h"
#include "hearth/tasks/embedding/text_column.h"
#include "hearth/train/evaluation.h"
#include "hearth/train/trainer_state.h"

namespace hearth::tasks {
namespace {

using models::EmbeddingLossKind;

constexpr std::int64_t kCachedChunk = 32;  // mini_batch_size of CachedMultipleNegativesRankingLoss

// The embeddings of item `item` of a batch: of its first text, its second, ..., one after the other.
std::vector<float> kept_embeddings(std::int64_t item, const Batch& batch, const nn::ModelOutput& output) {
  const Tensor& embeddings = output.logits_named("sentence_embedding");
  const std::int64_t items = batch.sequences() / batch.texts_per_item, width = embeddings.row_size();
  std::vector<float> kept;
  for (std::int64_t text = 0; text < batch.texts_per_item; ++text) {
    const float* const row = embeddings.data<float>() + (text * items + item) * width;
    kept.insert(kept.end(), row, row + width);
  }
  return kept;
}

// Rows of embeddings (columns * items, D): `rows` counts the first texts of all items, then their second texts, ...
Tensor embeddings_of(const ItemValues& values, std::span<const std::int64_t> rows, std::int64_t columns) {
  const std::int64_t width = std::ssize(values[0]) / columns;
  Tensor result({std::ssize(rows), width}, DType::f32);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::span<const float> item = values[rows[i] % values.size()];
    const std::int64_t column = rows[i] / values.size();
    std::copy_n(item.begin() + column * width, width, result.data<float>() + static_cast<std::int64_t>(i) * width);
  }
  return result;
}

Tensor column_of(const ItemValues& values, std::int64_t column, std::int64_t columns) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(values.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = column * values.size() + static_cast<std::int64_t>(i);
  return embeddings_of(values, rows, columns);
}

std::filesystem::path csv_folder(const Trainer& trainer) {
  return std::filesystem::path(trainer.arguments().output_dir) / "eval";
}

void append(const ResultsCsv& csv, const Trainer& trainer, const Metrics& scores) {
  csv.append(trainer.state().epoch, trainer.state().global_step, scores);
}

}  // namespace

void RunEmbedding::check_inputs(const TrainingArguments& training) {
  DataArguments files = args_;
  if (args_.has_corpus() && files.validation_file.empty()) files.validation_file = {*args_.corpus_file};
  check_readable(files, training);
  for (const auto* file : {&args_.queries_file, &args_.corpus_file, &args_.qrels_file})
    if (*file && training.do_eval) io::check_readable(**file);
}

void RunEmbedding::load(const TaskSetting& setting) {
  read_settings(setting);
  const TrainingArguments& training = setting.training;
  std::optional<Split> train;
  if (training.do_train) train = read(setting, args_.train_file, args_.max_train_samples);
  if (training.do_eval && !args_.validation_file.empty())
    evaluation_ = read(setting, args_.validation_file, args_.max_eval_samples);
  if (training.do_predict) prediction_ = read(setting, args_.test_file, args_.max_predict_samples);
  const Split* const first = train ? &*train : evaluation_ ? &*evaluation_ : nullptr;
  if (first != nullptr) choose_loss(setting, first->records);
  if (evaluation_) check_fits(loss_, evaluation_->records);
  if (train) {
    for (const TextColumn& column : train->data->features().columns) log_padding(column.rows, collate_options_);
    train_data_ = train->data;
  }
  if (training.do_eval && args_.has_corpus()) {
    Corpus corpus{read_retrieval(*args_.queries_file, *args_.corpus_file, *args_.qrels_file), nullptr, nullptr};
    corpus.queries = tokenized(setting, corpus.task.queries, settings_.query_prompt(), *args_.queries_file);
    corpus.documents = tokenized(setting, corpus.task.documents, settings_.document_prompt(), *args_.corpus_file);
    corpus_ = std::move(corpus);
  }
  check_best_metric(training, metric_names());
}

void RunEmbedding::read_settings(const TaskSetting& setting) {
  settings_ = models::read_sentence_transformer(setting.model_folder);
  if (args_.pooling) settings_.pooling = args_.pooling_modes();
  if (args_.normalize) settings_.normalize = *args_.normalize;
  for (const auto& [name, text] : args_.prompts_of_model()) settings_.prompts[name] = text;
  if (args_.default_prompt_name) settings_.default_prompt_name = args_.default_prompt_name;
  settings_.prompt(std::nullopt, setting.model_folder.string());
  prompts_ = args_.prompts_by_column();
  similarity_ = similarity_named(settings_.similarity_fn_name, setting.model_folder.string());
  hidden_ = models::transformer_config(setting.config).hidden;
  max_length_ = embedding_length(args_.max_seq_length, settings_, *setting.tokenizer, setting.max_tokens);
  if (args_.max_seq_length)
    usable_length(*args_.max_seq_length, *setting.tokenizer, setting.max_tokens, setting.team.is_first());
  settings_.max_seq_length = max_length_;
  collate_options_ = collate_options(args_, setting.training, *setting.tokenizer, max_length_);
}

void RunEmbedding::choose_loss(const TaskSetting& setting, const EmbeddingRecords& records) {
  const bool has_scores = records.has_labels() && records.columns.size() == 2;
  loss_ = args_.embedding_loss(has_scores ? EmbeddingLossKind::cosent : EmbeddingLossKind::multiple_negatives_ranking);
  check_fits(loss_, records);
  const std::int64_t dimension = settings_.dimension(hidden_);
  for (const std::int64_t size : loss_.matryoshka_dims)
    check(size <= dimension, "--matryoshka_dims {}: the embeddings of this model have {} numbers",
          args_.matryoshka_dims.value_or(""), dimension);
  const std::int64_t batch = std::min(setting.training.per_device_train_batch_size, records.size());
  check(!setting.training.do_train || !loss_.is_ranking() || batch > 1 || records.columns.size() > 2 ||
            (args_.gather_across_devices && setting.team.size() > 1),
        "{} has no negatives: a batch of one pair has nothing to tell its positive from; give a "
        "--per_device_train_batch_size above 1, more than one record, or a third column with negatives",
        name_of(loss_.kind));
  if (args_.gather_across_devices && setting.team.size() > 1)
    loss_.exchange = std::make_shared<TeamExchange>(setting.team);
  const bool is_cached = loss_.kind == EmbeddingLossKind::cached_multiple_negatives_ranking;
  mini_batch_size_ = args_.mini_batch_size.value_or(is_cached ? kCachedChunk : 0);
  if (setting.team.is_first()) log_info("loss: {} of {}", name_of(loss_.kind), fmt::join(records.columns, ", "));
}

RunEmbedding::Split RunEmbedding::read(const TaskSetting& setting, const std::vector<std::string>& files,
                                       std::optional<std::int64_t> max_records) const {
  Split split{read_embedding_records(data::read_table(data::files_of(files)),
                                     names_in(args_.text_column_names.value_or("")), max_records),
              nullptr};
  split.data = tokenized(setting, split.records);
  return split;
}

std::string RunEmbedding::prompt_of(const std::string& column) const {
  const auto own = prompts_.find(column), all = prompts_.find("");
  return own != prompts_.end() ? own->second : all != prompts_.end() ? all->second : "";
}

RunEmbedding::DataPtr RunEmbedding::tokenized(const TaskSetting& setting, const EmbeddingRecords& records) const {
  for (const auto& [column, prompt] : prompts_)
    check(column.empty() || std::ranges::find(records.columns, column) != records.columns.end(),
          "--prompts has a text for the column \"{}\", which {} does not have; its texts are {}", column, records.file,
          fmt::join(records.columns, ", "));
  auto features = std::make_shared<EmbeddingFeatures>();
  features->file = records.file;
  for (const double label : records.labels) features->labels.push_back(static_cast<float>(label));
  if (args_.batch_sampler == BatchSampler::no_duplicates) features->distinct_texts = numbers_of_texts(records.texts);
  for (std::size_t i = 0; i < records.columns.size(); ++i)
    features->columns.push_back(column(setting, records.texts[i], prompt_of(records.columns[i]), records.file));
  return std::make_shared<const EmbeddingDataset>(std::move(features), collate_options_);
}

RunEmbedding::DataPtr RunEmbedding::tokenized(const TaskSetting& setting, const std::vector<std::string>& texts,
                                              const std::string& prompt, const std::string& file) const {
  auto features = std::make_shared<EmbeddingFeatures>();
  features->file = file;
  features->columns.push_back(column(setting, texts, prompt, file));
  return std::make_shared<const EmbeddingDataset>(std::move(features), collate_options_);
}

TextColumn RunEmbedding::column(const TaskSetting& setting, const std::vector<std::string>& texts,
                                const std::string& prompt, const std::string& file) const {
  Progress progress("tokenising " + std::filesystem::path(file).filename().string(), std::ssize(texts),
                    setting.training.disable_tqdm.value_or(false) || !setting.team.is_first());
  TextColumn made = text_column(texts, prompt, settings_, *setting.tokenizer, max_length_,
                                [&](std::int64_t done) { progress.update(done); });
  check_rows(made.rows, {}, file, setting);
  return made;
}

models::HeadSpec RunEmbedding::head() const {
  models::HeadSpec spec(models::HeadKind::embedding);
  spec.embedding = {settings_.pooling, settings_.normalize, mini_batch_size_, loss_};
  return spec;
}

std::int64_t RunEmbedding::evaluation_size(std::size_t) const {
  return evaluation_ ? evaluation_->data->size() : std::ssize(corpus_->task.queries);
}

std::vector<std::string> RunEmbedding::metric_names() const {
  std::vector<std::string> names{"loss"};
  const bool has_scores = evaluation_ && evaluation_->records.labels_per_record == 1;
  if (has_scores)
    for (const char* name : {"pearson_", "spearman_"}) names.push_back(name + similarity_name());
  if (corpus_ || (evaluation_ && !has_scores))
    for (const auto& [header, name] : retrieval_csv("", similarity_name()).columns) names.push_back(name);
  return names;
}

Metrics RunEmbedding::evaluate(Trainer& trainer, std::size_t) {
  Metrics metrics;
  if (corpus_) metrics = evaluate_corpus(trainer);
  if (evaluation_) metrics.update(evaluate_records(trainer));
  return metrics;
}

// The correlation with the scores of scored pairs; otherwise retrieval among the texts of the records.
Metrics RunEmbedding::evaluate_records(Trainer& trainer) {
  const EmbeddingRecords& records = evaluation_->records;
  const auto columns = std::ssize(records.columns);
  const Evaluation evaluation = hearth::evaluate(trainer, *evaluation_->data, "eval", kept_embeddings);
  if (!trainer.team().is_first()) return {};
  if (records.labels_per_record == 1) {
    const std::vector<double> found =
        similarities(column_of(evaluation.values, 0, columns), column_of(evaluation.values, 1, columns), similarity_);
    Metrics scores;
    scores.set("pearson_" + similarity_name(), metrics::pearson(records.labels, found));
    scores.set("spearman_" + similarity_name(), metrics::spearman(records.labels, found));
    append(similarity_csv(csv_folder(trainer), similarity_name()), trainer, scores);
    return evaluation.with_scores(scores);
  }
  if (corpus_) return evaluation.with_scores({});
  std::vector<std::int64_t> query_rows, document_rows;
  const RetrievalTask task = retrieval_among(records, query_rows, document_rows);
  const Metrics scores =
      retrieval_scores(task, embeddings_of(evaluation.values, query_rows, columns),
                       embeddings_of(evaluation.values, document_rows, columns), similarity_, samples_);
  append(retrieval_csv(csv_folder(trainer), similarity_name()), trainer, scores);
  return evaluation.with_scores(scores);
}

Metrics RunEmbedding::evaluate_corpus(Trainer& trainer) {
  const Evaluation queries = hearth::evaluate(trainer, *corpus_->queries, "eval", kept_embeddings);
  const Evaluation documents = hearth::evaluate(trainer, *corpus_->documents, "eval", kept_embeddings);
  if (!trainer.team().is_first()) return {};
  const Metrics scores = retrieval_scores(corpus_->task, column_of(queries.values, 0, 1),
                                          column_of(documents.values, 0, 1), similarity_, samples_);
  append(retrieval_csv(csv_folder(trainer), similarity_name()), trainer, scores);
  return documents.with_scores(scores);
}

// The similarity of the first two texts of each record.
Metrics RunEmbedding::predict(Trainer& trainer) {
  const Evaluation evaluation = hearth::evaluate(trainer, *prediction_->data, "predict", kept_embeddings);
  if (!trainer.team().is_first()) return {};
  const auto columns = std::ssize(prediction_->records.columns);
  const std::vector<double> found =
      similarities(column_of(evaluation.values, 0, columns), column_of(evaluation.values, 1, columns), similarity_);
  std::string text = "index\tprediction\n";
  for (std::size_t row = 0; row < found.size(); ++row) text += fmt::format("{}\t{:.4f}\n", row, found[row]);
  io::replace_file(std::filesystem::path(trainer.arguments().output_dir) / "predict_results.txt", text);
  return {};
}

void RunEmbedding::save_beside(const std::filesystem::path& folder) const {
  models::write_sentence_transformer(settings_, hidden_, folder);
}

TaskCard RunEmbedding::card() const {
  TaskCard card{.name = "Sentence Similarity",
                .type = "sentence-similarity",
                .purpose = "embeddings of texts",
                .train_file = card_name(args_.train_file),
                .validation_file = card_name(args_.validation_file),
                .dataset = args_.dataset_name.value_or(""),
                .metrics = {}};
  for (const std::string& name : metric_names())
    if (name != "loss") card.metrics.emplace_back(name, "eval_" + name);
  return card;
}

std::string RunEmbedding::try_it(const std::string& model) const {
  return fmt::format("hearth embed --model {} --text \"...\"", shell_word(model));
}

}  // namespace hearth::tasks
