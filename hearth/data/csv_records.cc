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
      const std::string unnamed = fmt::format("{}{}", kUnnamed, i);
      names[i] = std::ranges::find(names, unnamed) == names.end() ? unnamed : unused_name(unnamed, names);
    } else if (is_repeated) {
      names[i] = unused_name(given[i], names);
    }
  }
  return names;
}

}  // namespace

CsvRecords::CsvRecords(const std::filesystem::path& file, char separator) : reader_(io::TextBuffer(file), separator) {
  Names names;
  check(reader_.next(names), "{} is empty; its first line must name the columns", file.string());
  check_separator(names, separator, file.string());
  for (std::string& name : unique_names(names)) fields_.push_back({std::move(name)});
}

bool CsvRecords::next(io::Json& record) {
  if (!reader_.next(cells_)) return false;
  if (cells_.size() != fields_.size()) wrong_number();
  record = io::Json::object();
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    check(io::is_utf8(cells_[i]), "{}: field \"{}\" is not UTF-8 text; save the file as UTF-8", text_of(place()),
          fields_[i].name);
    record[fields_[i].name] = std::move(cells_[i]);
  }
  return true;
}

void CsvRecords::wrong_number() const {
  Names names;
  for (const RecordField& field : fields_) names.push_back(field.name);
  fail(
      "{} has {} fields, but the header names {}: {}; a field with a separator or a line end in it needs double quotes "
      "around it",
      text_of(place()), cells_.size(), names.size(), fmt::join(names, ", "));
}

bool is_unnamed(std::string_view column) { return column.empty() || column.starts_with(kUnnamed); }

}  // namespace hearth::data
