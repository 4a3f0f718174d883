#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hearth::tasks {

// The texts of a file or several, one per row.
struct Texts {
  std::string file;
  std::vector<std::string> rows;

  std::int64_t size() const { return static_cast<std::int64_t>(rows.size()); }
};

// ".txt, .json, .jsonl, .csv, .tsv or .parquet", for help texts.
std::string text_endings();

// The texts of files and patterns (data::files_of). A .txt file has a text per line, empty lines included; other files
// have the column "text", or the first one. Files without a text that is not blank are an Error.
Texts read_texts(const std::vector<std::string>& files);

// The first `percentage` of the rows for evaluation, the others for training, as run_mlm.py splits a file.
struct SplitTexts {
  Texts train, validation;
};
SplitTexts split_texts(Texts texts, std::int64_t percentage);

}  // namespace hearth::tasks
