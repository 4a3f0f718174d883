#pragma once

#include <filesystem>
#include <string>

#include "hearth/data/table_reader.h"

namespace hearth::data {

// required: every sentence has tags; optional: a file may have words alone, and then there is no column of tags.
enum class Tags { required, optional };

// Tagged words: one word per line, first column the word, last column the tag; blank lines end sentences, lines that
// begin with -DOCSTART- are skipped. Columns are separated by tabs, or by spaces in lines without tabs, and every line
// has the same number. Each sentence is a record with the fields `tokens` and `ner_tags`, lists of texts.
RecordSourcePtr open_conll(const Files& files, Tags tags = Tags::required);

// A table of sentences. The ending of the name decides: CoNLL for .conll, .bio, .iob, .iob2 and .txt, otherwise
// records.
TableReader token_table_reader(const Files& files, Tags tags = Tags::required);

// ".conll, .bio, ...", for help texts and errors.
std::string token_table_endings();

}  // namespace hearth::data
