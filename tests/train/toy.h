// The model and data of the Trainer's tests: a small encoder with a classifier, and sequences whose class is that of
// their first token.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "hearth/base/log.h"
#include "hearth/cpu/parallel.h"
#include "hearth/io/checkpoint_folders.h"
#include "hearth/io/file.h"
#include "hearth/io/safetensors.h"
#include "hearth/nn/encoder.h"
#include "hearth/nn/model.h"
#include "hearth/ops/cast.h"
#include "hearth/ops/rows.h"
#include "hearth/train/checkpoint.h"
#include "hearth/train/trainer.h"
#include "hearth/train/trainer_state.h"
#include "tests/support.h"

namespace hearth {

inline constexpr std::int64_t kToyVocabulary = 24, kToyClasses = 3, kToyLongest = 10;

inline nn::TransformerConfig toy_config(float dropout) {
  nn::TransformerConfig config;
  config.vocab_size = kToyVocabulary;
  config.hidden = 16;
  config.layers = 2;
  config.heads = 2;
  config.intermediate = 32;
  config.positions = kToyLongest;
  config.token_types = 1;
  config.init_range = 0.3f;
  config.hidden_dropout = config.attention_dropout = dropout;
  return config;
}

inline constexpr nn::EncoderNames kToyNames{"layer", "query",        "key",    "value",      "projected",
                                            "norm1", "intermediate", "output", "output_norm"};

class ToyModel final : public nn::Model {
 public:
  using Chosen = std::function<bool(std::string_view name)>;

  explicit ToyModel(float dropout = 0, std::uint64_t seed = 1, const Chosen& frozen = {})
      : encoder_(root(), toy_config(dropout), kToyNames),
        classifier_(root() / "classifier", encoder_.config().hidden, kToyClasses, {.init_range = 0.3f}) {
    if (frozen) parameters().freeze(frozen);
    initialise(seed);
  }

  nn::ModelOutput forward(ops::Context& ctx, const BatchPtr& batch) override {
    if (batch->sequences() > most_sequences) throw ResourceError("out of memory");
    ctx.begin(batch);
    const Var hidden = encoder_(ctx, *batch);
    const Var first = ops::first_tokens(ctx, hidden);
    const Var logits = classifier_.logits(ctx, first);
    nn::ModelOutput output = nn::classified(ctx, *batch, logits);
    if (ctx.training && forwards_++ == nan_forward) {
      Tensor nan({}, DType::f32);
      *nan.data<float>() = std::numeric_limits<float>::quiet_NaN();
      output.loss = ctx.tape->record(nan, [](const Tensor&) {});
    }
    return output;
  }

  std::vector<float> weights() const {
    std::vector<float> all;
    for (const auto& parameter : parameters().parameters()) {
      const Tensor values = ops::in_dtype(parameter->master, DType::f32);
      all.insert(all.end(), values.data<float>(), values.data<float>() + values.size());
    }
    return all;
  }

  std::int64_t most_sequences = std::numeric_limits<std::int64_t>::max();  // memory runs out in a larger batch
  std::int64_t nan_forward = -1;  // the loss of this training pass, counted from 0, is NaN and has no gradient

 private:
  std::string config_json() const override { return "{}\n"; }

  nn::Encoder encoder_;
  nn::Linear classifier_;
  std::int64_t forwards_ = 0;
};

// Makes the first gradients too large for fp16 at the first loss scale.
inline void enlarge_classifier(ToyModel& model) {
  for (const auto& parameter : model.parameters().parameters())
    if (parameter->parts[0].name == "classifier.weight")
      for (std::int64_t i = 0; i < parameter->master.size(); ++i) parameter->master.data<float>()[i] *= 20;
  model.parameters().mark_changed();
}

struct ToyDataset final : Dataset {
  static std::int32_t token(std::int64_t item, std::int64_t at) {
    return static_cast<std::int32_t>(1 + (item * 7 + at * at * 5 + at) % (kToyVocabulary - 1));
  }

  std::int64_t size() const override { return std::ssize(lengths); }
  std::int64_t length(std::int64_t item) const override { return lengths[static_cast<std::size_t>(item)]; }
  BatchPtr collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const override {
    Batch batch;
    for (const std::int64_t item : items) {
      if (order != nullptr) order->push_back(item);
      std::vector<std::int32_t> ids;
      for (std::int64_t at = 0; at < length(item); ++at) ids.push_back(token(item, at));
      const std::vector<std::int32_t> types(ids.size(), 0);
      batch.append(ids, types, first_sample++);
      batch.labels["labels"].push_back(ids.front() % kToyClasses);
    }
    return shared_batch(std::move(batch));
  }

  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t>* order = nullptr;
};

// `order`, where given, takes the items in the order in which they are collated.
inline std::shared_ptr<ToyDataset> toy_dataset(std::int64_t size, std::vector<std::int64_t>* order = nullptr) {
  auto dataset = std::make_shared<ToyDataset>();
  for (std::int64_t item = 0; item < size; ++item) dataset->lengths.push_back(2 + item * 5 % (kToyLongest - 1));
  dataset->order = order;
  return dataset;
}

// A Trainer of a model that the test owns.
class ToyTrainer final : public Trainer {
 public:
  ToyTrainer(nn::Model& model, TrainingArguments args, DatasetPtr train_dataset, TrainerOptions options = {},
             const std::optional<parallel::Team>& team = {})
      : Trainer(std::shared_ptr<nn::Model>(std::shared_ptr<void>(), &model), std::move(args),
                completed(std::move(options), std::move(train_dataset), team)) {}

 private:
  static TrainerOptions completed(TrainerOptions options, DatasetPtr train_dataset,
                                  const std::optional<parallel::Team>& team) {
    options.train_dataset = std::move(train_dataset);
    if (team) options.team = *team;
    return options;
  }
};

// Without what a clock decides, keys sorted.
inline std::string without_times(io::Json rows) {
  for (io::Json& row : rows)
    for (const char* key : {"train_runtime", "train_samples_per_second", "train_steps_per_second"}) row.erase(key);
  return io::dump_json(rows, io::kOneLine, true);
}

inline double number(const io::Json& row, const char* key) { return row.at(key).get<double>(); }
inline double number(const Metrics& metrics, const char* key) { return metrics.at(key); }

// The steps of the rows that have the key.
inline std::vector<std::int64_t> steps_with(const io::Json& log_history, const char* key) {
  std::vector<std::int64_t> steps;
  for (const io::Json& row : log_history)
    if (row.contains(key)) steps.push_back(row["step"].get<std::int64_t>());
  return steps;
}

class TrainerTest : public TemporaryFolder {
 protected:
  TrainerTest() {
    cpu::set_num_threads(1);
    set_log_sink([this](LogLevel level, std::string_view message) {
      if (level == LogLevel::warning) warnings_.emplace_back(message);
    });
  }
  ~TrainerTest() override {
    set_log_sink({});
    cpu::set_num_threads(0);
  }

  // Two epochs of six steps over toy_dataset(24), every step logged, nothing saved.
  TrainingArguments arguments() const {
    TrainingArguments args;
    args.output_dir = (folder_ / "out").string();
    args.per_device_train_batch_size = 4;
    args.num_train_epochs = 2;
    args.learning_rate = 1e-2;
    args.logging_steps = 1;
    args.save_strategy = Strategy::no;
    args.disable_tqdm = true;
    return args;
  }

  // The steps of the checkpoints in output_dir.
  std::vector<std::int64_t> checkpoints() const {
    std::vector<std::int64_t> steps;
    for (const auto& folder : io::list_checkpoints(folder_ / "out"))
      steps.push_back(std::stoll(folder.filename().string().substr(std::string("checkpoint-").size())));
    return steps;
  }

  std::vector<std::string> warnings_;
};

}  // namespace hearth
