#include "hearth/base/check.h"
#include "hearth/models/family.h"

namespace hearth::models {
namespace {

// "num_hidden_layers" counts how often a group runs; all layers of a group run each time.
void read_groups(const Config& config, nn::TransformerConfig& encoder) {
  const std::int64_t runs = encoder.layers;
  encoder.layer_groups = config.size_or("num_hidden_groups", 1, 1, Config::kMostLayers);
  encoder.layers_per_group = config.size_or("inner_group_num", 1, 1, Config::kMostLayers);
  check(encoder.layer_groups <= runs,
        "{}: \"num_hidden_groups\" is {}, more than the {} of \"num_hidden_layers\": a group would never run",
        config.file(), encoder.layer_groups, runs);
  check(
      encoder.layers_per_group <= runs / encoder.layer_groups,
      "{}: \"inner_group_num\" is {}, but must be at most \"num_hidden_layers\" / \"num_hidden_groups\", {}, which is "
      "what transformers can run",
      config.file(), encoder.layers_per_group, runs / encoder.layer_groups);
  encoder.layers = runs * encoder.layers_per_group;
  check(encoder.layers <= Config::kMostLayers,
        "{}: \"num_hidden_layers\" x \"inner_group_num\" must be at most {}, it is {}", config.file(),
        Config::kMostLayers, encoder.layers);
}

nn::TransformerConfig albert_config(const Config& config) {
  nn::TransformerConfig encoder = bert_config(config);
  encoder.embedding = config.size_or("embedding_size", 128, 1, Config::kWidest);
  encoder.activation = config.activation("hidden_act", "gelu_new");
  encoder.hidden_dropout = config.rate_or("hidden_dropout_prob", 0);
  encoder.attention_dropout = config.rate_or("attention_probs_dropout_prob", 0);
  encoder.ffn_output_dropout = false;
  read_groups(config, encoder);
  return encoder;
}

constexpr nn::EncoderNames kNames{.layers = "encoder.albert_layer_groups",
                                  .query = "attention.query",
                                  .key = "attention.key",
                                  .value = "attention.value",
                                  .attention_output = "attention.dense",
                                  .attention_norm = "attention.LayerNorm",
                                  .intermediate = "ffn",
                                  .output = "ffn_output",
                                  .output_norm = "full_layer_layer_norm",
                                  .embedding_projection = "encoder.embedding_hidden_mapping_in",
                                  .layers_of_group = "albert_layers"};

io::Json albert_defaults() {
  return {{"model_type", "albert"},
          {"vocab_size", 30000},
          {"embedding_size", 128},
          {"hidden_size", 4096},
          {"num_hidden_layers", 12},
          {"num_hidden_groups", 1},
          {"num_attention_heads", 64},
          {"intermediate_size", 16384},
          {"inner_group_num", 1},
          {"hidden_act", "gelu_new"},
          {"hidden_dropout_prob", 0},
          {"attention_probs_dropout_prob", 0},
          {"max_position_embeddings", 512},
          {"type_vocab_size", 2},
          {"initializer_range", 0.02},
          {"layer_norm_eps", 1e-12},
          {"classifier_dropout_prob", 0.1},
          {"position_embedding_type", "absolute"},
          {"pad_token_id", 0},
          {"bos_token_id", 2},
          {"eos_token_id", 3}};
}

}  // namespace

extern const Family kAlbert;  // listed in families.def
constinit const Family kAlbert{
    .model_type = "albert",
    .class_name = "Albert",
    .prefix = "albert",
    .names = &kNames,
    .encoder = albert_config,
    .span_dropout = {},
    .classifier = {.dense = "albert.pooler", .output = "classifier", .dropout = {"classifier_dropout_prob", 0.1}},
    .token_dropout = {"classifier_dropout_prob", 0.1},
    .masked_lm = {.dense = "predictions.dense",
                  .norm = "predictions.LayerNorm",
                  .bias = "predictions",
                  .decoder = "predictions.decoder"},
    .pooler = "pooler",
    .defaults = albert_defaults};

}  // namespace hearth::models
