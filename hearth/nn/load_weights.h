#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "hearth/nn/parameter_scope.h"

namespace hearth::nn {

// What the weights of a folder may lack. By default nothing: every parameter must be there, in its shape.
struct LoadRules {
  std::string model = {};  // the architecture, for messages, and the file that describes it
  std::string config_file = {};
  // "bert.": the folder's names may lack it where the model's have it, or have it where the model's lack it.
  std::string optional_prefix = {};
  // Parameters that Hugging Face stores under one of several names, because they are tied: from the name that Hearth
  // writes to another one, which is read where the folder lacks the first.
  std::map<std::string, std::string> other_names = {};
  std::function<bool(std::string_view name)> may_be_new = {};  // initialised, with a log line, if the folder lacks it
  bool reports_new = true;                                     // false: nothing reads what may be new
  bool ignores_shapes = false;                                 // initialised as well if its shape is another
  std::uint64_t seed = 0;                                      // of parameters that are initialised
};

// Copies the weights of a folder into the model's parameters, which get memory once the weights are known to fit.
// Weights are f32, f16 or bf16; old names (gamma, beta) are understood. Trainable parameters are stored as f32, frozen
// ones in the dtype of the folder, or in 16 bits that they have already if these hold the folder's f32 values exactly.
void load_weights(ModelBuilder& builder, const std::filesystem::path& folder, const LoadRules& rules = {});

}  // namespace hearth::nn
