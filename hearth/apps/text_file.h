#pragma once

#include <string>
#include <vector>

namespace hearth::apps {

// The texts of a file: the column `column` of .json, .jsonl, .csv or .tsv files, "text" if it is empty, or the only one
// with texts; any other ending: one text per line. A file without texts, or an empty text, is an Error.
std::vector<std::string> read_text_file(const std::string& file, const std::string& column);
// The lines of standard input, likewise.
std::vector<std::string> read_text_input();

}  // namespace hearth::apps
