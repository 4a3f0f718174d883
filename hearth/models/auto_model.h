#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/nn/model.h"

namespace hearth {

struct FromPretrained {
  std::vector<std::string> labels = {};            // their names, by id; empty: those of config.json
  std::uint64_t seed = 42;                         // of parameters that the folder does not have: those of a new head
  std::string config_overrides = {};               // "hidden_dropout_prob=0,..."
  bool ignore_mismatched_sizes = false;            // a head of another shape is initialised
  std::vector<std::string> freeze = {};            // shell globs over Hugging Face parameter names
  std::optional<std::int64_t> freeze_layers = {};  // the embeddings and the first N layers
};

// As in transformers: a model of the family that config.json names, with the head that the class names. `name` is a
// folder, or a name in the local cache of the Hub.
struct HEARTH_API AutoModelForSequenceClassification {
  static std::shared_ptr<nn::Model> from_pretrained(const std::string& name, const FromPretrained& options = {});
};
struct HEARTH_API AutoModelForTokenClassification {
  static std::shared_ptr<nn::Model> from_pretrained(const std::string& name, const FromPretrained& options = {});
};
struct HEARTH_API AutoModelForQuestionAnswering {
  static std::shared_ptr<nn::Model> from_pretrained(const std::string& name, const FromPretrained& options = {});
};
struct HEARTH_API AutoModelForMaskedLM {
  static std::shared_ptr<nn::Model> from_pretrained(const std::string& name, const FromPretrained& options = {});
};

}  // namespace hearth
