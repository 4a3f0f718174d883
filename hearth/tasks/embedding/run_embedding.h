#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hearth/models/sentence_transformer.h"
#include "hearth/tasks/embedding/arguments.h"
#include "hearth/tasks/embedding/dataset.h"
#include "hearth/tasks/embedding/nearest.h"
#include "hearth/tasks/embedding/records.h"
#include "hearth/tasks/embedding/retrieval.h"
#include "hearth/tasks/task.h"

namespace hearth::tasks {

// Embeddings of texts as sentence-transformers trains them: similar texts get similar embeddings.
class RunEmbedding final : public Task {
 public:
  void declare(Arguments& options) override { tasks::declare(options, args_); }
  void validate(const TrainingArguments& training) override { args_.validate(training); }
  DataArguments& data() override { return args_; }
  void check_inputs(const TrainingArguments& training) override;
  void load(const TaskSetting& setting) override;
  models::HeadSpec head() const override;
  DatasetPtr train_data() const override { return train_data_; }
  std::int64_t evaluation_size(std::size_t) const override;
  Metrics evaluate(Trainer& trainer, std::size_t set) override;
  Metrics predict(Trainer& trainer) override;
  std::vector<SamplePrediction> samples() const override { return samples_; }
  void save_beside(const std::filesystem::path& folder) const override;
  TaskCard card() const override;
  std::string try_it(const std::string& model) const override;

 private:
  using DataPtr = std::shared_ptr<const EmbeddingDataset>;

  // A file's records, and its texts as tokens.
  struct Split {
    EmbeddingRecords records;
    DataPtr data;
  };
  struct Corpus {
    RetrievalTask task;
    DataPtr queries, documents;
  };

  void read_settings(const TaskSetting& setting);
  void choose_loss(const TaskSetting& setting, const EmbeddingRecords& records);
  Split read(const TaskSetting& setting, const std::vector<std::string>& files,
             std::optional<std::int64_t> max_records) const;
  DataPtr tokenized(const TaskSetting& setting, const EmbeddingRecords& records) const;
  DataPtr tokenized(const TaskSetting& setting, const std::vector<std::string>& texts, const std::string& prompt,
                    const std::string& file) const;
  TextColumn column(const TaskSetting& setting, const std::vector<std::string>& texts, const std::string& prompt,
                    const std::string& file) const;
  std::string prompt_of(const std::string& column) const;
  std::vector<std::string> metric_names() const;
  std::string similarity_name() const { return similarity_ == Similarity::cosine ? "cosine" : "dot"; }
  Metrics evaluate_records(Trainer& trainer);
  Metrics evaluate_corpus(Trainer& trainer);

  EmbeddingArguments args_;
  models::SentenceTransformer settings_;
  std::map<std::string, std::string> prompts_;  // by column
  models::EmbeddingLoss loss_;
  std::int64_t mini_batch_size_ = 0, hidden_ = 0, max_length_ = 0;
  Similarity similarity_ = Similarity::cosine;
  CollateOptions collate_options_;
  DatasetPtr train_data_;
  std::optional<Split> evaluation_, prediction_;
  std::optional<Corpus> corpus_;
  std::vector<SamplePrediction> samples_;
};

}  // namespace hearth::tasks
