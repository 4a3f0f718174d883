#include "hearth/tasks/text_classification/columns.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/data/csv_records.h"

namespace hearth::tasks {
namespace {

using data::Column, data::ColumnKind, data::Table;

bool has_name(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::string> text_columns(const Table& table, const std::string& label,
                                      const std::vector<std::string>& except) {
  std::vector<std::string> names;
  for (const Column& column : table.columns())
    if (column.kind() == ColumnKind::text && column.name() != label && !has_name(except, column.name()) &&
        !data::is_unnamed(column.name()))
      names.push_back(column.name());
  return names;
}

// Numbers are written as Python writes them, and a missing value as nothing.
std::string text_in(const Column& column, std::size_t row) {
  return column.kind() == ColumnKind::text ? column.text(row) : column.is_missing(row) ? "" : column.written(row);
}

std::vector<std::string> joined(const Table& table, const std::vector<std::string>& names,
                                const std::string& delimiter) {
  std::vector<std::string> texts(table.rows());
  for (const std::string& name : names) {
    const Column& column = table.at(name);
    for (std::size_t row = 0; row < texts.size(); ++row) {
      if (name != names.front()) texts[row] += delimiter;
      texts[row] += text_in(column, row);
    }
  }
  return texts;
}

bool is_written_as_text(ColumnKind kind) {
  return kind == ColumnKind::integer || kind == ColumnKind::number || kind == ColumnKind::boolean;
}

// A column of a .csv file without a single value is one of numbers.
std::string_view contents_of(const Column& column) {
  return column.kind() == ColumnKind::number ? "numbers, or nothing" : data::plural_of(column.kind());
}

// Why "sentence" is not the text, and what to do about it.
[[noreturn]] void fail_without_sentence(const Table& table, const std::string& label,
                                        const std::vector<std::string>& except) {
  std::vector<std::string> others = table.names();
  std::erase_if(others, [&](const std::string& name) { return name == label || has_name(except, name); });
  const std::string& file = table.file();
  const std::string way_out =
      others.empty() ? "add a column of texts"
                     : fmt::format("name those of the text with --text_column_names: {}", fmt::join(others, ", "));
  check(!has_name(except, "sentence"), "--remove_columns removes sentence, which is the text column; leave it out{}",
        others.empty() ? "" : ", or " + way_out);
  const Column* column = table.find("sentence");
  check(column != nullptr, "{} has no column \"sentence\"; {}", file, way_out);
  check(label != "sentence", "{}: the column \"sentence\" is the label; {}", file, way_out);
  check(!is_written_as_text(column->kind()),
        "{}: the column \"sentence\" holds {}; --text_column_names sentence takes them as texts", file,
        contents_of(*column));
  fail("{}: the column \"sentence\" holds {}; {}", file, contents_of(*column), way_out);
}

}  // namespace

std::vector<std::string> TextColumns::texts() const {
  std::vector<std::string> names = first;
  names.insert(names.end(), second.begin(), second.end());
  return names;
}

TextColumns glue_columns(const Table& table) { return pair_columns(table, "label", {}); }

TextColumns pair_columns(const Table& table, const std::string& label, const std::vector<std::string>& except) {
  TextColumns columns;
  columns.label = label;
  std::vector<std::string> names = text_columns(table, label, except);
  check(!names.empty(), "{} has no column with texts beside \"{}\"; its columns are {}", table.file(), label,
        fmt::join(table.names(), ", "));
  if (has_name(names, "sentence1") && has_name(names, "sentence2")) names = {"sentence1", "sentence2"};
  columns.first = {names[0]};
  if (names.size() > 1) columns.second = {names[1]};
  return columns;
}

TextColumns sentence_column(const Table& table, const std::string& label, const std::vector<std::string>& except) {
  const std::vector<std::string> names = text_columns(table, label, except);
  TextColumns columns;
  columns.label = label;
  if (has_name(names, "sentence")) {
    columns.first = {"sentence"};
  } else {
    if (names.size() != 1) fail_without_sentence(table, label, except);
    columns.first = names;
  }
  return columns;
}

void check_same_columns(const Table& table, const TextColumns& columns, const std::string& reference) {
  for (const auto* names : {&columns.first, &columns.second})
    for (const std::string& name : *names)
      check(table.find(name) != nullptr,
            "{} has no column \"{}\", which is a text of {}; its columns are {}; give both files the same columns",
            table.file(), name, reference, fmt::join(table.names(), ", "));
}

TextRows text_rows(const Table& table, const TextColumns& columns, LabelsIn labels) {
  TextRows rows{joined(table, columns.first, columns.delimiter), {}, std::nullopt};
  if (!columns.second.empty()) rows.second = joined(table, columns.second, columns.delimiter);
  const Column* label = labels == LabelsIn::nowhere ? nullptr : table.find(columns.label);
  if (labels == LabelsIn::required) label = &table.at(columns.label);
  if (label != nullptr) rows.labels = *label;
  return rows;
}

}  // namespace hearth::tasks
