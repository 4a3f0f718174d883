// The model and data of the Trainer's tests: a small encoder with a classifier, and sequences whose class is that of
// their first token.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "hearth/base/log.h"
#include "hearth/cpu/parallel.h"
#include "hearth/io/file.h"
#include "hearth/io/safetensors.h"
#include "hearth/nn/encoder.h"
#include "hearth/nn/model.h"
#include "hearth/ops/loss.h"
#include "hearth/ops/rows.h"
#include "hearth/train/checkpoint.h"
#include "hearth/train/trainer.h"
#include "tests/support.h"

namespace hearth {

inline constexpr std::int64_t kToyVocabulary = 24, kToyClasses = 3, kToyLongest = 10;

inline nn::EncoderConfig toy_config(float dropout) {
  nn::EncoderConfig config;
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
  explicit ToyModel(float dropout = 0, std::uint64_t seed = 1)
      : encoder_(nn::Cursor(blueprint_), toy_config(dropout), kToyNames),
        classifier_(nn::Cursor(blueprint_, "classifier"), encoder_.config().hidden, kToyClasses, 0.3f) {
    parameters().allocate();
    for (const auto& parameter : parameters().parameters())
      for (const Parameter::Part& part : parameter->parts) nn::initialise(blueprint(), *parameter, part, seed);
    parameters().mark_changed();
  }

  nn::ModelOutput forward(ops::Context& ctx, const Batch& batch) override {
    ctx.sequences = nn::sequences_of(batch);
    const Var hidden = encoder_(ctx, batch);
    const Var first = ops::first_tokens(ctx, hidden);
    const Var logits = classifier_.logits(ctx, first);
    nn::ModelOutput output{{}, {{"logits", logits}}};
    if (const auto labels = batch.labels.find("labels"); labels != batch.labels.end())
      output.loss = ops::cross_entropy(ctx, logits, labels->second, {.label_smoothing = ctx.label_smoothing});
    if (ctx.training && forwards_++ == nan_forward) {
      Tensor nan({}, DType::f32);
      *nan.data<float>() = std::numeric_limits<float>::quiet_NaN();
      output.loss = ctx.tape->record(nan, [](const Tensor&) {});
    }
    return output;
  }

  double training_flops(const Batch& batch) const override { return encoder_.training_flops(batch); }
  void save_pretrained(const std::filesystem::path& folder) const override {
    io::create_directories(folder);
    io::replace_file(folder / "config.json", "{}\n");
    std::vector<std::pair<std::string, Tensor>> tensors;
    for (const auto& parameter : parameters().parameters())
      for (const Parameter::Part& part : parameter->parts)
        tensors.emplace_back(part.name, parameter->master_part(part));
    io::write_safetensors(folder / "model.safetensors", tensors);
  }

  std::vector<float> weights() const {
    std::vector<float> all;
    for (const auto& parameter : parameters().parameters()) {
      const float* values = parameter->master.data<float>();
      all.insert(all.end(), values, values + parameter->master.size());
    }
    return all;
  }

  std::int64_t nan_forward = -1;  // the loss of this training pass, counted from 0, is NaN and has no gradient

 private:
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

// `order`, where given, takes the items in the order in which they are collated.
inline Dataset toy_dataset(std::int64_t size, std::vector<std::int64_t>* order = nullptr) {
  const auto token = [](std::int64_t item, std::int64_t at) {
    return static_cast<std::int32_t>(1 + (item * 7 + at * at * 5 + at) % (kToyVocabulary - 1));
  };
  const auto length = [](std::int64_t item) { return 2 + item * 5 % (kToyLongest - 1); };
  Dataset dataset;
  dataset.size = size;
  for (std::int64_t item = 0; item < size; ++item) dataset.lengths.push_back(length(item));
  dataset.collate = [=](std::span<const std::int64_t> items, std::uint32_t first_sample) {
    Batch batch;
    for (const std::int64_t item : items) {
      if (order != nullptr) order->push_back(item);
      std::vector<std::int32_t> ids;
      for (std::int64_t at = 0; at < length(item); ++at) ids.push_back(token(item, at));
      const std::vector<std::int32_t> types(ids.size(), 0);
      batch.append(ids, types, first_sample++);
      batch.labels["labels"].push_back(ids.front() % kToyClasses);
    }
    return batch;
  };
  return dataset;
}

// Without what a clock decides, keys sorted.
inline std::string without_times(io::Json rows) {
  for (io::Json& row : rows)
    for (const char* key : {"train_runtime", "train_samples_per_second", "train_steps_per_second"}) row.erase(key);
  return io::dump_json(rows, io::kOneLine, true);
}

inline double number(const io::Json& row, const char* key) { return row.at(key).get<double>(); }

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
    args.save_strategy = "no";
    args.disable_tqdm = true;
    return args;
  }

  // The steps of the checkpoints in output_dir.
  std::vector<std::int64_t> checkpoints() const {
    std::vector<std::int64_t> steps;
    for (const auto& folder : list_checkpoints(folder_ / "out"))
      steps.push_back(std::stoll(folder.filename().string().substr(std::string("checkpoint-").size())));
    return steps;
  }

  std::vector<std::string> warnings_;
};

}  // namespace hearth
