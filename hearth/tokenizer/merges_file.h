#pragma once

#include <filesystem>

#include "hearth/tokenizer/bpe.h"

namespace hearth::tokenizer {

// merges.txt: a merge per line, its two tokens separated by a space, the first merge first. A line that begins with
// "#version" is not one.
Bpe::Merges read_merges(const std::filesystem::path& file);
void write_merges(const std::filesystem::path& file, const Bpe::Merges& merges);

}  // namespace hearth::tokenizer
