#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace hearth::data {

// How a file holds records, told by the ending of its name.
enum class RecordFormat { json, json_lines, csv, tsv };

std::optional<RecordFormat> record_format_of(const std::filesystem::path& file);

// ".json, .jsonl, .csv or .tsv", for help texts and errors.
const std::string& record_endings();

}  // namespace hearth::data
