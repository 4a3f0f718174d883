#include "hearth/models/family.h"

namespace hearth::models {
namespace {

nn::TransformerConfig roberta_config(const Config& config) {
  nn::TransformerConfig encoder = bert_config(config);
  encoder.padding_id = config.token_id_or("pad_token_id", 1, encoder.vocab_size);
  encoder.positions_follow_padding = true;
  return encoder;
}

}  // namespace

extern const Family kRoberta;  // listed in families.def
constinit const Family kRoberta{.model_type = "roberta",
                                .class_name = "Roberta",
                                .prefix = "roberta",
                                .names = &nn::kBertNames,
                                .encoder = roberta_config,
                                .span_dropout = {},
                                .classifier = {.dense = "classifier.dense",
                                               .output = "classifier.out_proj",
                                               .drops_input = true,
                                               .dropout = {"classifier_dropout"}},
                                .token_dropout = {"classifier_dropout"},
                                .masked_lm = {},
                                .pooler = "pooler.dense",
                                .fields = kBertFields};

}  // namespace hearth::models
