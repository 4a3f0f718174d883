#include "hearth/models/family.h"

namespace hearth::models {
namespace {

nn::TransformerConfig electra_config(const Config& config) {
  nn::TransformerConfig encoder = bert_config(config);
  const std::int64_t width = config.size_or("embedding_size", 128, 1, Config::kWidest);
  if (width != encoder.hidden) encoder.embedding = width;
  return encoder;
}

constexpr nn::EncoderNames electra_names() {
  nn::EncoderNames names = nn::kBertNames;
  names.embedding_projection = "embeddings_project";
  return names;
}
constexpr nn::EncoderNames kNames = electra_names();

io::Json electra_defaults() {
  io::Json values = bert_defaults();
  values.update({{"model_type", "electra"},
                 {"embedding_size", 128},
                 {"hidden_size", 256},
                 {"num_attention_heads", 4},
                 {"intermediate_size", 1024},
                 {"summary_type", "first"},
                 {"summary_use_proj", true},
                 {"summary_activation", "gelu"},
                 {"summary_last_dropout", 0.1}});
  return values;
}

}  // namespace

extern const Family kElectra;  // listed in families.def
constinit const Family kElectra{.model_type = "electra",
                                .class_name = "Electra",
                                .prefix = "electra",
                                .names = &kNames,
                                .encoder = electra_config,
                                .span_dropout = {},
                                .classifier = {.dense = "classifier.dense",
                                               .output = "classifier.out_proj",
                                               .activation = kernels::Activation::gelu,
                                               .drops_input = true,
                                               .dropout = {"classifier_dropout"}},
                                .token_dropout = {"classifier_dropout"},
                                .masked_lm = {.dense = "generator_predictions.dense",
                                              .norm = "generator_predictions.LayerNorm",
                                              .bias = "generator_lm_head",
                                              .decoder = "generator_lm_head",
                                              .activation = kernels::Activation::gelu},
                                .defaults = electra_defaults};

}  // namespace hearth::models
