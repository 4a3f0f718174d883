#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hearth/base/arguments.h"
#include "hearth/models/embedding_loss.h"
#include "hearth/ops/pooling.h"
#include "hearth/tasks/common/data_arguments.h"
#include "hearth/train/training_arguments.h"

namespace hearth::tasks {

enum class BatchSampler { batch_sampler, no_duplicates };
constexpr std::array<std::string_view, 2> names_of(BatchSampler) { return {"batch_sampler", "no_duplicates"}; }

// The settings of sentence-transformers' losses, modules and training arguments, under their names.
struct EmbeddingArguments : DataArguments {
  std::optional<std::string> text_column_names;
  std::optional<std::int64_t> max_seq_length;
  std::optional<std::string> queries_file, corpus_file, qrels_file;
  std::optional<std::string> loss, distance_metric;
  double scale = 20, temperature = 1;
  std::optional<double> margin;
  std::optional<std::int64_t> mini_batch_size;
  std::optional<std::string> matryoshka_dims, matryoshka_weights;
  bool gather_across_devices = false;
  BatchSampler batch_sampler = BatchSampler::batch_sampler;
  std::optional<std::string> pooling;
  std::optional<bool> normalize;
  std::optional<std::string> prompts, model_prompts, default_prompt_name;

  void validate(const TrainingArguments& training) const;  // throws Error
  bool has_corpus() const { return corpus_file.has_value(); }

  // The parsed values of flags; an Error names the flag.
  std::vector<ops::Pooling> pooling_modes() const;
  // By column. "" stands for every column that has none of its own.
  std::map<std::string, std::string> prompts_by_column() const;
  std::map<std::string, std::string> prompts_of_model() const;
  // The loss, whose kind is `usual` where --loss was not given.
  models::EmbeddingLoss embedding_loss(models::EmbeddingLossKind usual) const;
};

void declare(Arguments& options, EmbeddingArguments& arguments);

}  // namespace hearth::tasks
