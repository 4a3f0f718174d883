#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hearth/autograd/parameter.h"
#include "hearth/models/family.h"

namespace hearth::models {

// Which parameters stay as they are: --freeze and --freeze_layers.
struct Freezing {
  std::vector<std::string> patterns;   // shell globs over Hugging Face parameter names
  std::optional<std::int64_t> layers;  // the embeddings and the first N layers
};

// Freezes parameters of a model that is not allocated yet. A pattern that matches no parameter is an Error, and so is
// freezing all of them. `prefix` is that of the backbone's parameters.
void freeze(ParameterStore& parameters, const Freezing& freezing, std::string_view prefix, const Family& family,
            const nn::TransformerConfig& config);

}  // namespace hearth::models
