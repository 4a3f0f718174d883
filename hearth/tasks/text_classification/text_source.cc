#include "hearth/tasks/text_classification/text_source.h"

#include <algorithm>

#include "hearth/base/whole_number.h"
#include "hearth/tasks/text_classification/label_names.h"

namespace hearth::tasks {
namespace {

using data::ColumnKind;

constexpr std::size_t kRowsPerPart = 1 << 14;

}  // namespace

TextSource::TextSource(std::shared_ptr<data::TableReader> reader, TextColumns columns, LabelsIn labels)
    : reader_(std::move(reader)), columns_(std::move(columns)) {
  const data::Table outline = reader_->outline();
  for (const auto* names : {&columns_.first, &columns_.second})
    for (const std::string& name : *names) outline.at(name);
  if (labels == LabelsIn::required) outline.at(columns_.label);
  has_labels_ = labels != LabelsIn::nowhere && outline.find(columns_.label) != nullptr;
}

std::int64_t TextSource::size() const { return std::min(reader_->rows(), most_.value_or(reader_->rows())); }

std::vector<std::string> TextSource::column_names() const {
  std::vector<std::string> names = columns_.texts();
  if (has_labels_) names.push_back(columns_.label);
  return names;
}

void TextSource::restart() {
  if (has_labels_) label_kind();  // known before the texts are read, because it may read the file
  reader_->restart(column_names());
  read_ = 0;
}

std::optional<TextRows> TextSource::next() {
  if (most_ && read_ == *most_) return std::nullopt;
  std::optional<data::Table> table = reader_->next(kRowsPerPart);
  if (!table) return std::nullopt;
  TextRows rows = text_rows(*table, columns_, has_labels_ ? LabelsIn::required : LabelsIn::nowhere);
  rows.class_names = class_names();
  if (most_) rows.keep_first(*most_ - read_);
  if (has_labels_ && labels_ && labels_->are_lists_in_cells) rows.labels = with_parsed_lists(*rows.labels);
  read_ += rows.size();
  return rows;
}

ColumnKind TextSource::declared_kind() const { return reader_->outline().at(columns_.label).kind(); }

// Only texts may turn out to be lists.
ColumnKind TextSource::label_kind() { return declared_kind() == ColumnKind::text ? labels().kind : declared_kind(); }

std::vector<std::string> TextSource::occurring_labels(bool skips_minus_one) {
  std::vector<std::string> names = labels().names;
  if (skips_minus_one && label_kind() == ColumnKind::integer) std::erase(names, "-1");
  const std::vector<std::string>& known = class_names();
  for (std::string& name : names)
    if (const auto id = whole_number<std::size_t>(name); id && *id < known.size()) name = known[*id];
  return names;
}

std::vector<std::string> TextSource::label_names() {
  return class_names().empty() ? occurring_labels() : class_names();
}

const TextSource::Labels& TextSource::labels() {
  if (labels_) return *labels_;
  LabelNames names(declared_kind());
  reader_->restart({columns_.label});
  while (const std::optional<data::Table> part = reader_->next(kRowsPerPart)) names.add(part->at(columns_.label));
  return labels_.emplace(Labels{names.kind(), names.are_lists_in_cells(), names.sorted()});
}

}  // namespace hearth::tasks
