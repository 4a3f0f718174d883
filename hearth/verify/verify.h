#pragma once

#include <filesystem>

#include "hearth/verify/report.h"

namespace hearth::verify {

// Compares this build with a set of golden files, made with PyTorch, transformers, tokenizers and accelerate: models
// (models/), tokens of texts (tokenizer/), features and answers of SQuAD (qa/) and the order of training data
// (data_order.json). Parts that this build cannot compare, such as families it lacks, are reported as not known.
void verify_set(const std::filesystem::path& folder, Report& report);

// The parts. `root` is the folder of the whole set: some paths in golden files are relative to it.
void verify_model(const std::filesystem::path& folder, Report& report);
void verify_tokenizer(const std::filesystem::path& folder, const std::filesystem::path& root, Report& report);
void verify_question_answering(const std::filesystem::path& folder, const std::filesystem::path& root, Report& report);
void verify_data_order(const std::filesystem::path& file, Report& report);

}  // namespace hearth::verify
