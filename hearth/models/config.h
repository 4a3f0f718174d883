#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/io/json.h"
#include "hearth/kernels/rows/activation.h"

namespace hearth::models {

// What a sequence classifier predicts: config.json's "problem_type".
enum class ProblemType { regression, single_label_classification, multi_label_classification };
std::string_view name_of(ProblemType type);

// A Hugging Face config.json. Getters name the file in their errors.
class Config {
 public:
  static Config read(const std::filesystem::path& folder);
  Config(io::Json values, std::string file) : values_(std::move(values)), file_(std::move(file)) {}

  std::string model_type() const;
  // No model comes near these limits. The number of weights of a model within them fits 64 bits.
  static constexpr std::int64_t kLargestSize = 1 << 22, kWidest = 1 << 20, kMostLayers = 10'000, kMostHeads = 10'000;
  std::int64_t size(std::string_view key, std::int64_t at_most = kLargestSize) const;  // required, at least 1
  std::int64_t size_or(std::string_view key, std::int64_t otherwise, std::int64_t at_least = 0,
                       std::int64_t at_most = kLargestSize) const;
  std::int32_t token_id_or(std::string_view key, std::int32_t otherwise, std::int64_t vocab_size) const;
  float number_or(std::string_view key, double otherwise) const;  // finite, and not negative
  float rate_or(std::string_view key, double otherwise) const;    // a dropout rate, in [0, 1)
  kernels::Activation activation(std::string_view key, const std::string& otherwise = "gelu") const;
  std::int64_t num_labels() const;
  std::vector<std::string> label_names() const;         // id2label by id; LABEL_0, LABEL_1, ... where it is missing
  bool has_label_names() const;                         // id2label is there, and is not LABEL_0, LABEL_1, ...
  void set_labels(std::span<const std::string> names);  // id2label and label2id
  void forget_labels();                                 // removes them; the number of labels is then the default, two
  std::optional<ProblemType> problem_type() const;
  void set_problem_type(ProblemType type);
  void set_finetuning_task(std::string_view task);
  void set_vocab_size(std::int64_t tokens);
  // An Error unless the key is missing, null or has this value, the only one that Hearth supports.
  void require(std::string_view key, const io::Json& value) const;

  // Applies "hidden_dropout_prob=0,layer_norm_eps=1e-5". Fields must be in config.json or in `known`. Commas separate
  // the fields, so a value cannot contain one. A value is parsed as JSON (`true`, not `True`); anything else is a
  // string.
  void override_fields(std::string_view overrides, std::span<const std::string_view> known);

  const io::Json& values() const { return values_; }
  const std::string& file() const { return file_; }

 private:
  io::Json values_;
  std::string file_;
};

}  // namespace hearth::models
