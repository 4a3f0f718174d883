#pragma once

#include <string>
#include <vector>

#include "hearth/models/family.h"

namespace hearth::bench {

std::vector<std::string> built_in_models();  // bert-tiny ... bert-large

// A built-in model, of the sizes that Google published and with BERT's vocabulary and dropout, or the config.json of a
// model folder; models::encoder_config() has its sizes.
models::Config model_config(const std::string& name_or_folder);

}  // namespace hearth::bench
