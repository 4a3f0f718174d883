#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hearth::tokenizer {

// Tokens by id; an empty string for an id without a token.
using Vocabulary = std::vector<std::string>;

// vocab.txt: one token per line, whose id is the line's number, from 0.
Vocabulary read_vocabulary(const std::filesystem::path& file);
void write_vocabulary(const std::filesystem::path& file, const Vocabulary& vocabulary);

}  // namespace hearth::tokenizer
