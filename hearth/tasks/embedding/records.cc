#include "hearth/tasks/embedding/records.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hearth/base/check.h"
#include "hearth/data/csv_records.h"

namespace hearth::tasks {
namespace {

using data::Column, data::ColumnKind, data::Table;
using models::EmbeddingLoss, models::EmbeddingLossKind;

constexpr std::array<const char*, 4> kLabelNames{"label", "labels", "score", "scores"};

const Column* label_of(const Table& table) {
  for (const char* name : kLabelNames)
    if (const Column* column = table.find(name)) return column;
  return nullptr;
}

std::vector<std::string> text_columns(const Table& table, const Column* label) {
  std::vector<std::string> names;
  for (const Column& column : table.columns())
    if (&column != label && !data::is_unnamed(column.name())) names.push_back(column.name());
  return names;
}

std::vector<std::string> texts_in(const Column& column, const std::string& file) {
  check(column.kind() == ColumnKind::text,
        "{}: the column \"{}\" holds {}, not texts; name the columns of the texts with --text_column_names", file,
        column.name(), data::plural_of(column.kind()));
  std::vector<std::string> texts;
  for (std::size_t row = 0; row < column.size(); ++row) {
    check(!column.is_missing(row), "{}: record {} has no \"{}\"; give every record all of its texts", file, row + 1,
          column.name());
    texts.push_back(column.text(row));
    check(texts.back().find_first_not_of(" \t\r\n") != std::string::npos,
          "{}: \"{}\" of record {} is empty; write a text, or leave the record out", file, column.name(), row + 1);
  }
  return texts;
}

void read_labels(EmbeddingRecords& records, const Column& column) {
  const bool has_lists = column.kind() == ColumnKind::integer_list || column.kind() == ColumnKind::number_list;
  const bool has_numbers = column.kind() == ColumnKind::integer || column.kind() == ColumnKind::number ||
                           column.kind() == ColumnKind::boolean;
  check(has_lists || has_numbers, "{}: the column \"{}\" holds {}, but the label of texts is a number", records.file,
        column.name(), data::plural_of(column.kind()));
  for (std::size_t row = 0; row < column.size(); ++row) {
    const std::vector<double> numbers = has_lists ? column.numbers(row) : std::vector{column.number(row)};
    if (row == 0) records.labels_per_record = std::ssize(numbers);
    check(std::ssize(numbers) == records.labels_per_record && !numbers.empty(),
          "{}: \"{}\" of record {} has {} numbers, but that of record 1 has {}; give all as many", records.file,
          column.name(), row + 1, numbers.size(), records.labels_per_record);
    for (const double number : numbers) {
      check(std::isfinite(number), "{}: \"{}\" of record {} is missing or not finite; write a number", records.file,
            column.name(), row + 1);
      records.labels.push_back(number);
    }
  }
}

void check_range(const EmbeddingLoss& loss, const EmbeddingRecords& records, double least, double most) {
  for (std::size_t i = 0; i < records.labels.size(); ++i)
    check(least <= records.labels[i] && records.labels[i] <= most,
          "{}: the label {} of record {} is outside of {} to {}, the range of {}; divide the labels by their highest "
          "value, or use --loss CoSENTLoss, which takes any numbers",
          records.file, records.labels[i], i + 1, least, most, name_of(loss.kind));
}

}  // namespace

EmbeddingRecords read_embedding_records(const Table& table, const std::vector<std::string>& names,
                                        std::optional<std::int64_t> max_records) {
  Table rows = table;
  if (max_records) rows.keep_first(std::min(table.rows(), static_cast<std::size_t>(*max_records)));
  EmbeddingRecords records;
  records.file = table.file();
  const Column* const label = label_of(rows);
  records.columns = names.empty() ? text_columns(rows, label) : names;
  check(records.columns.size() >= 2,
        "{} has {} column of texts; a pair needs two: an anchor and its positive, in any names; its columns are {}",
        table.file(), records.columns.size() == 1 ? "one" : "no", fmt::join(table.names(), ", "));
  for (const std::string& name : records.columns) records.texts.push_back(texts_in(rows.at(name), table.file()));
  if (label != nullptr) read_labels(records, *label);
  return records;
}

void check_fits(const EmbeddingLoss& loss, const EmbeddingRecords& records) {
  using enum EmbeddingLossKind;
  const auto columns = std::ssize(records.columns);
  const bool has_pairs = loss.kind == cosine_similarity || loss.kind == cosent || loss.kind == contrastive ||
                         loss.kind == online_contrastive;
  const bool distils = loss.kind == margin_mse || loss.kind == distill_kl_div;
  const auto expect = [&](bool fits, std::string_view needed) {
    check(fits, "{}: {} needs {}, but the records have {} texts ({}){}; choose the columns with --text_column_names",
          records.file, name_of(loss.kind), needed, columns, fmt::join(records.columns, ", "),
          records.has_labels() ? "" : " and no label");
  };
  if (has_pairs) {
    expect(columns == 2 && records.labels_per_record == 1, "two texts and a number in the column label or score");
    if (loss.kind == cosine_similarity) check_range(loss, records, -1, 1);
    if (loss.kind != cosine_similarity && loss.kind != cosent) check_range(loss, records, 0, 1);
  } else if (loss.kind == triplet) {
    expect(columns == 3, "three texts: anchor, positive and negative");
  } else if (distils) {
    const std::int64_t candidates = columns - 1, labels = records.labels_per_record;
    expect(columns >= 3 && (labels == candidates || (loss.kind == margin_mse && labels == candidates - 1)),
           "a query, two or more documents, and in the column label or scores the teacher's score of each document");
  }
}

}  // namespace hearth::tasks
