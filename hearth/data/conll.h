#pragma once

#include <filesystem>

#include "hearth/data/table.h"

namespace hearth::data {

// Reads tagged words: one word per line, first column the word, last column the tag; blank lines end sentences, lines
// that begin with -DOCSTART- are skipped. Columns are separated by tabs, or by spaces in lines without tabs, and every
// line has the same number. Gives one row per sentence with the columns `tokens` and `ner_tags`, lists of texts.
Table read_conll(const std::filesystem::path& path);

// The ending of the name decides: CoNLL for .conll, .bio, .iob, .iob2 and .txt; otherwise read_table.
Table read_token_table(const std::filesystem::path& path);

}  // namespace hearth::data
