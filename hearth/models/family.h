#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "hearth/models/config.h"
#include "hearth/nn/encoder.h"

namespace hearth::models {

// A dropout rate that config.json gives under `field`; without the field it is `otherwise`. Where the field is null, or
// `otherwise` is empty, it is the encoder's hidden_dropout. No field at all: no dropout.
struct DropoutRate {
  std::string_view field = {};
  std::optional<double> otherwise = {};

  float of(const Config& config, const nn::TransformerConfig& encoder) const;
};

// Sequence classification: first token -> [dropout] -> dense -> activation -> dropout -> output.
struct ClassifierVariant {
  std::string_view dense, output;  // parameter names, from the model's root
  kernels::Activation activation = kernels::Activation::tanh;
  bool drops_input = false;  // dropout before the dense layer as well
  DropoutRate dropout;
};

// Masked language modelling: dense -> activation -> layer norm -> word embeddings, tied, and a bias. The dense layer is
// as wide as the embeddings.
struct MaskedLmVariant {
  std::string_view dense, norm, bias;  // modules; that of the bias has the parameter "bias"
  // The module that ties its weight to the word embeddings and its bias to the above: files may have both, or either.
  std::string_view decoder;
  std::optional<kernels::Activation> activation = {};  // empty: the encoder's
};

// A model family: how its config.json describes the encoder, how Hugging Face names its parameters, and what its heads
// look like. One constant per family, in a file of its own; families.def lists them.
struct Family {
  std::string_view model_type;  // config.json's
  std::string_view class_name;  // "Bert": the architectures are BertForQuestionAnswering, ...
  std::string_view prefix;      // "bert": the encoder's parameters are bert.encoder.layer.0...
  const nn::EncoderNames* names;
  nn::TransformerConfig (*encoder)(const Config&);
  DropoutRate span_dropout;
  ClassifierVariant classifier;
  DropoutRate token_dropout;
  MaskedLmVariant masked_lm;
  std::string_view pooler = {};  // of the bare model, without the prefix: "pooler.dense"; empty: it has none
  io::Json (*defaults)();        // config.json of a new model, as transformers' class of it
};

const Family& family_of(const Config& config);  // an error names the supported model types
bool is_known_family(std::string_view model_type);
std::span<const Family* const> families();
// The encoder that config.json describes.
nn::TransformerConfig transformer_config(const Config& config);
// Config::override_fields, where a field that config.json leaves out may be any of the family's defaults.
void override_fields(Config& config, std::string_view overrides);

// Shared by BERT and its descendants.
nn::TransformerConfig bert_config(const Config& config);
io::Json bert_defaults();

}  // namespace hearth::models
