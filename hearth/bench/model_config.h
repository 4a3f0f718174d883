#pragma once

#include <string>
#include <vector>

#include "hearth/models/family.h"

namespace hearth::bench {

std::vector<std::string> built_in_models();  // bert-tiny ... albert-large

// A built-in model (sizes, vocabulary and dropout as published), or config.json of a model folder.
// models::transformer_config() has the sizes of its encoder.
models::Config model_config(const std::string& name_or_folder);

}  // namespace hearth::bench
