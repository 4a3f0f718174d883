#include "hearth/data/csv_records.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/data/csv.h"
#include "hearth/io/json.h"
#include "hearth/io/utf8.h"

namespace hearth::data {
namespace {

constexpr std::string_view kUnnamed = "Unnamed: ";

using Names = std::vector<std::string>;

void check_separator(const Names& names, char separator, const std::string& file) {
  if (names.size() > 1) return;
  const std::size_t other = names.front().find_first_of(separator == ',' ? ";\t" : ";,");
  if (other == std::string::npos) return;
  const char found = names.front()[other];
  fail("{}: its columns seem to be separated by '{}'; a .csv file needs commas, a .tsv file tabs", file,
       found == '\t' ? "\\t" : std::string(1, found));
}

std::string unused_name(const std::string& name, const Names& used) {
  for (int number = 1;; ++number) {
    std::string candidate = fmt::format("{}.{}", name, number);
    if (std::ranges::find(used, candidate) == used.end()) return candidate;
  }
}

Names unique_names(const Names& given) {
  Names names = given;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_repeated = std::ranges::find(given, given[i]) != given.begin() + static_cast<std::ptrdiff_t>(i);
    if (given[i].empty()) {
      names[i] = fmt::format("{}{}", kUnnamed, i);
    } else if (is_repeated) {
      names[i] = unused_name(given[i], names);
    }
  }
  return names;
}

}  // namespace

void read_csv_records(std::string_view text, char separator, const std::string& file, const RecordSink& sink) {
  CsvReader reader(text, separator, file);
  Names names, fields;
  check(reader.next(names), "{} is empty; its first line must name the columns", file);
  check_separator(names, separator, file);
  names = unique_names(names);
  for (int number = 1; reader.next(fields); ++number) {
    check(
        fields.size() == names.size(),
        "{}: record {} has {} fields, but the header names {}: {}; a field with a separator or a line end in it needs "
        "double quotes around it",
        file, number, fields.size(), names.size(), fmt::join(names, ", "));
    io::Json record = io::Json::object();
    for (std::size_t i = 0; i < names.size(); ++i) {
      check(io::is_utf8(fields[i]), "{}: record {}: field \"{}\" is not UTF-8 text; save the file as UTF-8", file,
            number, names[i]);
      record[names[i]] = std::move(fields[i]);
    }
    sink(record);
  }
}

bool is_unnamed(std::string_view column) { return column.empty() || column.starts_with(kUnnamed); }

}  // namespace hearth::data
