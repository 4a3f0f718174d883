#pragma once

#include <filesystem>

#include "hearth/verify/report.h"

namespace hearth::verify {

// Checks everything this build knows of a set of golden files (outputs of PyTorch, transformers, tokenizers and
// accelerate): model folders with their logits, losses, gradients and ten optimizer steps.
void verify_set(const std::filesystem::path& folder, Report& report);

// One model folder of such a set.
void verify_model(const std::filesystem::path& folder, Report& report);

}  // namespace hearth::verify
