#include "hearth/models/family.h"

namespace hearth::models {
namespace {

nn::TransformerConfig distilbert_config(const Config& config) {
  config.require("sinusoidal_pos_embds", false);
  nn::TransformerConfig encoder;
  encoder.vocab_size = config.size("vocab_size");
  encoder.hidden = config.size("dim", Config::kWidest);
  encoder.layers = config.size("n_layers", Config::kMostLayers);
  encoder.heads = config.size("n_heads", Config::kMostHeads);
  encoder.intermediate = config.size("hidden_dim", Config::kWidest);
  encoder.positions = config.size("max_position_embeddings");
  encoder.init_range = config.number_or("initializer_range", 0.02);
  encoder.activation = config.activation("activation");
  encoder.hidden_dropout = config.rate_or("dropout", 0.1);
  encoder.attention_dropout = config.rate_or("attention_dropout", 0.1);
  encoder.attention_output_dropout = false;
  encoder.padding_id = config.token_id_or("pad_token_id", 0, encoder.vocab_size);
  return encoder;
}

constexpr nn::EncoderNames kNames{"transformer.layer", "attention.q_lin",   "attention.k_lin",
                                  "attention.v_lin",   "attention.out_lin", "sa_layer_norm",
                                  "ffn.lin1",          "ffn.lin2",          "output_layer_norm"};

io::Json distilbert_defaults() {
  return {{"model_type", "distilbert"},
          {"vocab_size", 30522},
          {"max_position_embeddings", 512},
          {"sinusoidal_pos_embds", false},
          {"n_layers", 6},
          {"n_heads", 12},
          {"dim", 768},
          {"hidden_dim", 3072},
          {"dropout", 0.1},
          {"attention_dropout", 0.1},
          {"activation", "gelu"},
          {"initializer_range", 0.02},
          {"qa_dropout", 0.1},
          {"seq_classif_dropout", 0.2},
          {"pad_token_id", 0}};
}

}  // namespace

extern const Family kDistilBert;  // listed in families.def
constinit const Family kDistilBert{.model_type = "distilbert",
                                   .class_name = "DistilBert",
                                   .prefix = "distilbert",
                                   .names = &kNames,
                                   .encoder = distilbert_config,
                                   .span_dropout = {"qa_dropout", 0.1},
                                   .classifier = {.dense = "pre_classifier",
                                                  .output = "classifier",
                                                  .activation = kernels::Activation::relu,
                                                  .dropout = {"seq_classif_dropout", 0.2}},
                                   .token_dropout = {"dropout", 0.1},
                                   .masked_lm = {.dense = "vocab_transform",
                                                 .norm = "vocab_layer_norm",
                                                 .bias = "vocab_projector",
                                                 .decoder = "vocab_projector"},
                                   .defaults = distilbert_defaults};

}  // namespace hearth::models
