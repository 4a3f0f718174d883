#pragma once

#include <memory>

#include "hearth/models/pretrained.h"

// One file per model family. Each function builds a model with the given head from config.json, without weights.
namespace hearth::models {

std::unique_ptr<Pretrained> make_bert(Config config, Head head);
std::unique_ptr<Pretrained> make_distilbert(Config config, Head head);
std::unique_ptr<Pretrained> make_roberta(Config config, Head head);

void check_heads(const Config& config, const nn::EncoderConfig& encoder);

// Shared by BERT and RoBERTa.
nn::EncoderConfig bert_encoder_config(const Config& config);
const nn::EncoderNames& bert_encoder_names();

}  // namespace hearth::models
