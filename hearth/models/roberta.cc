#include "hearth/models/family.h"

// RoBERTa, DistilRoBERTa (whose model_type is roberta) and XLM-RoBERTa, which differ in names and defaults alone.
namespace hearth::models {
namespace {

nn::TransformerConfig roberta_config(const Config& config) {
  nn::TransformerConfig encoder = bert_config(config);
  encoder.padding_id = config.token_id_or("pad_token_id", 1, encoder.vocab_size);
  encoder.positions_follow_padding = true;
  return encoder;
}

io::Json defaults_of(std::string_view model_type, std::int64_t vocab_size) {
  io::Json values = bert_defaults();
  values.update({{"model_type", model_type},
                 {"vocab_size", vocab_size},
                 {"pad_token_id", 1},
                 {"bos_token_id", 0},
                 {"eos_token_id", 2}});
  return values;
}

constexpr Family make_family(std::string_view model_type, std::string_view class_name, io::Json (*defaults)()) {
  return {.model_type = model_type,
          .class_name = class_name,
          .prefix = "roberta",
          .names = &nn::kBertNames,
          .encoder = roberta_config,
          .span_dropout = {},
          .classifier = {.dense = "classifier.dense",
                         .output = "classifier.out_proj",
                         .drops_input = true,
                         .dropout = {"classifier_dropout"}},
          .token_dropout = {"classifier_dropout"},
          .masked_lm = {.dense = "lm_head.dense",
                        .norm = "lm_head.layer_norm",
                        .bias = "lm_head",
                        .decoder = "lm_head.decoder",
                        .activation = kernels::Activation::gelu},
          .pooler = "pooler.dense",
          .defaults = defaults};
}

}  // namespace

extern const Family kRoberta, kXlmRoberta;  // listed in families.def
constinit const Family kRoberta = make_family("roberta", "Roberta", [] { return defaults_of("roberta", 50265); });
constinit const Family kXlmRoberta =
    make_family("xlm-roberta", "XLMRoberta", [] { return defaults_of("xlm-roberta", 30522); });

}  // namespace hearth::models
