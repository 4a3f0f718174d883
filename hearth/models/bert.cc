#include "hearth/models/family.h"

namespace hearth::models {

nn::TransformerConfig bert_config(const Config& config) {
  config.require("position_embedding_type", "absolute");
  config.require("is_decoder", false);
  config.require("add_cross_attention", false);
  nn::TransformerConfig encoder;
  encoder.vocab_size = config.size("vocab_size");
  encoder.hidden = config.size("hidden_size", Config::kWidest);
  encoder.layers = config.size("num_hidden_layers", Config::kMostLayers);
  encoder.heads = config.size("num_attention_heads", Config::kMostHeads);
  encoder.intermediate = config.size("intermediate_size", Config::kWidest);
  encoder.positions = config.size("max_position_embeddings");
  encoder.token_types = config.size_or("type_vocab_size", 2);
  encoder.eps = config.number_or("layer_norm_eps", 1e-12);
  encoder.init_range = config.number_or("initializer_range", 0.02);
  encoder.activation = config.activation("hidden_act");
  encoder.hidden_dropout = config.rate_or("hidden_dropout_prob", 0.1);
  encoder.attention_dropout = config.rate_or("attention_probs_dropout_prob", 0.1);
  encoder.padding_id = config.token_id_or("pad_token_id", 0, encoder.vocab_size);
  return encoder;
}

io::Json bert_defaults() {
  return {{"model_type", "bert"},
          {"vocab_size", 30522},
          {"hidden_size", 768},
          {"num_hidden_layers", 12},
          {"num_attention_heads", 12},
          {"intermediate_size", 3072},
          {"hidden_act", "gelu"},
          {"hidden_dropout_prob", 0.1},
          {"attention_probs_dropout_prob", 0.1},
          {"max_position_embeddings", 512},
          {"type_vocab_size", 2},
          {"initializer_range", 0.02},
          {"layer_norm_eps", 1e-12},
          {"pad_token_id", 0},
          {"position_embedding_type", "absolute"},
          {"use_cache", true},
          {"classifier_dropout", nullptr}};
}

extern const Family kBert;  // listed in families.def
constinit const Family kBert{
    .model_type = "bert",
    .class_name = "Bert",
    .prefix = "bert",
    .names = &nn::kBertNames,
    .encoder = bert_config,
    .span_dropout = {},
    .classifier = {.dense = "bert.pooler.dense", .output = "classifier", .dropout = {"classifier_dropout"}},
    .token_dropout = {"classifier_dropout"},
    .masked_lm = {.dense = "cls.predictions.transform.dense",
                  .norm = "cls.predictions.transform.LayerNorm",
                  .bias = "cls.predictions",
                  .decoder = "cls.predictions.decoder"},
    .pooler = "pooler.dense",
    .defaults = bert_defaults};

}  // namespace hearth::models
