#pragma once

#include <filesystem>
#include <string>

#include "hearth/data/table.h"

namespace hearth::data {

// Reads tagged words: one word per line, first column the word, last column the tag; blank lines end sentences, lines
// that begin with -DOCSTART- are skipped. Columns are separated by tabs, or by spaces in lines without tabs, and every
// line has the same number. Gives one row per sentence with the columns `tokens` and `ner_tags`, lists of texts. With
// Tags::optional the file may have words alone, and then there is no column `ner_tags`.
enum class Tags { required, optional };
Table read_conll(const std::filesystem::path& path, Tags tags = Tags::required);

// The ending of the name decides: CoNLL for .conll, .bio, .iob, .iob2 and .txt; otherwise read_table.
Table read_token_table(const std::filesystem::path& path, Tags tags = Tags::required);

// ".conll, .bio, ...", for help texts and errors.
std::string token_table_endings();

}  // namespace hearth::data
