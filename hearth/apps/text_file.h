#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/arguments.h"

namespace hearth::apps {

// The flags of commands that read a file of texts.
struct TextFileFlags {
  enum class File { optional, required };
  std::optional<std::string> file;
  std::string text_column_name;

  void declare(Arguments& arguments, std::string_view what, File need);  // what: "texts to search"
  std::vector<std::string> read() const;                                 // of --file
};

// The texts of a file: the column `column` of .json, .jsonl, .csv or .tsv files, "text" if it is empty, or the only one
// with texts; any other ending: one text per line. A file without texts, or an empty text, is an Error.
std::vector<std::string> read_text_file(const std::string& file, const std::string& column);
// The lines of standard input, likewise.
std::vector<std::string> read_text_input();

}  // namespace hearth::apps
