#pragma once

#include <string>
#include <vector>

#include "hearth/models/config.h"
#include "hearth/nn/encoder.h"

namespace hearth::bench {

std::vector<std::string> built_in_models();  // bert-tiny ... bert-large

// A built-in model (sizes as Google published them, BERT's vocabulary and dropout), or config.json of a model folder.
models::Config model_config(const std::string& name_or_folder);

// The sizes of the encoder, without allocating weights if the family allows it.
nn::EncoderConfig encoder_config(const models::Config& config);

}  // namespace hearth::bench
