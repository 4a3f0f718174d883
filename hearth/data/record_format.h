#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace hearth::data {

// How a file holds records, told by the ending of its name. All but Parquet may be compressed: .gz or .zst follows.
enum class RecordFormat { json, json_lines, csv, tsv, parquet, text };

std::optional<RecordFormat> record_format_of(const std::filesystem::path& file);
// Whether its records have fields with names; those of a text file are lines.
bool has_fields(const std::filesystem::path& file);

// ".json, .jsonl, .csv, .tsv or .parquet": the formats with fields, for help texts and errors.
const std::string& record_endings();

}  // namespace hearth::data
