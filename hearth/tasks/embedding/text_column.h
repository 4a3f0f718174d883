#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "hearth/models/sentence_transformer.h"
#include "hearth/tasks/embedding/dataset.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tasks {

// The most tokens of a text: `wanted`, or what the model's folder says, but at most what tokenizer and model allow.
std::int64_t embedding_length(std::optional<std::int64_t> wanted, const models::SentenceTransformer& settings,
                              const tokenizer::Tokenizer& tokenizer, std::int64_t model_positions);

// The tokens of texts with the prompt before each.
TextColumn text_column(std::span<const std::string> texts, const std::string& prompt,
                       const models::SentenceTransformer& settings, const tokenizer::Tokenizer& tokenizer,
                       std::int64_t max_length, const std::function<void(std::int64_t done)>& progress = {});

}  // namespace hearth::tasks
