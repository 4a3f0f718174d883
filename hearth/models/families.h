#pragma once

#include <memory>

#include "hearth/models/pretrained.h"

// One file a family: config.json -> a model with the head wanted, weights not yet set.
namespace hearth::models {

std::unique_ptr<Pretrained> make_bert(Config config, Head head);
std::unique_ptr<Pretrained> make_distilbert(Config config, Head head);
std::unique_ptr<Pretrained> make_roberta(Config config, Head head);

void check_heads(const Config& config, const nn::EncoderConfig& encoder);

// What BERT and RoBERTa have in common.
nn::EncoderConfig bert_encoder_config(const Config& config);
const nn::EncoderNames& bert_encoder_names();

}  // namespace hearth::models
