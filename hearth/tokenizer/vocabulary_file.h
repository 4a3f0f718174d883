#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hearth::tokenizer {

// Tokens by id; empty where an id has none.
using Vocabulary = std::vector<std::string>;

// vocab.txt: a token a line, the line's number its id.
Vocabulary read_vocabulary(const std::filesystem::path& file);
void write_vocabulary(const std::filesystem::path& file, const Vocabulary& vocabulary);

}  // namespace hearth::tokenizer
