#pragma once

#include <string>
#include <vector>

#include "hearth/models/family.h"

namespace hearth::bench {

std::vector<std::string> built_in_models();  // bert-tiny ... bert-large

// A built-in model (sizes as Google published them, BERT's vocabulary and dropout), or config.json of a model folder.
// models::transformer_config() has the sizes of its encoder.
models::Config model_config(const std::string& name_or_folder);

}  // namespace hearth::bench
