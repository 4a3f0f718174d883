#pragma once

#include <filesystem>

#include "hearth/verify/report.h"

namespace hearth::verify {

// Checks everything this build knows of a set of golden files, outputs of PyTorch, transformers, tokenizers and
// accelerate: model folders (models/), texts with their tokens (tokenizer/), SQuAD's features and answers (qa/), the
// order of data (data_order.json).
void verify_set(const std::filesystem::path& folder, Report& report);

// The parts. Paths in golden files start at the set's root or at the file's own folder; each takes what it needs.
void verify_model(const std::filesystem::path& folder, Report& report);
void verify_tokenizer(const std::filesystem::path& folder, const std::filesystem::path& root, Report& report);
void verify_question_answering(const std::filesystem::path& folder, const std::filesystem::path& root, Report& report);
void verify_data_order(const std::filesystem::path& file, Report& report);

}  // namespace hearth::verify
