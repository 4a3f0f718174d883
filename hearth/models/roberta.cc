#include "hearth/models/family.h"

namespace hearth::models {
namespace {

nn::EncoderConfig roberta_encoder_config(const Config& config) {
  nn::EncoderConfig encoder = bert_encoder_config(config);
  encoder.padding_id = config.token_id_or("pad_token_id", 1, encoder.vocab_size);
  encoder.positions_follow_padding = true;
  return encoder;
}

}  // namespace

constinit const Family kRoberta{.model_type = "roberta",
                                .class_name = "Roberta",
                                .prefix = "roberta",
                                .names = &kBertNames,
                                .encoder = roberta_encoder_config,
                                .span_dropout = {},
                                .classifier = {.dense = "classifier.dense",
                                               .output = "classifier.out_proj",
                                               .drops_input = true,
                                               .dropout = {"classifier_dropout"}},
                                .token_dropout = {"classifier_dropout"},
                                .masked_lm = {},
                                .fields = kBertFields};

}  // namespace hearth::models
