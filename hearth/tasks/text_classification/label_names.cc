#include "hearth/tasks/text_classification/label_names.h"

#include <memory>
#include <utility>

#include "hearth/data/python_literal.h"
#include "hearth/io/json.h"

namespace hearth::tasks {
namespace {

using data::Column, data::ColumnKind;

bool is_literal_list(const std::string& cell) { return cell.starts_with('[') && cell.ends_with(']'); }

std::set<std::string> listed(const std::string& cell, const std::string& place) {
  std::set<std::string> names;
  for (const io::Json& item : data::parse_python_literal(cell, place))
    names.insert(item.is_string() ? item.get<std::string>() : item.dump());
  return names;
}

}  // namespace

std::vector<std::string> label_names_of(const Column& labels, std::size_t row) {
  if (labels.kind() == ColumnKind::text_list) return labels.texts(row);
  if (labels.kind() != ColumnKind::integer_list) return {labels.written(row)};
  std::vector<std::string> names;
  for (const std::int64_t label : labels.integers(row)) names.push_back(std::to_string(label));
  return names;
}

Column with_parsed_lists(const Column& labels) {
  std::vector<std::vector<std::string>> lists(labels.size());
  std::vector<bool> missing(labels.size());
  for (std::size_t row = 0; row < labels.size(); ++row)
    if (!(missing[row] = labels.is_missing(row))) {
      const std::set<std::string> names = listed(labels.text(row), text_of(labels.place(row)));
      lists[row].assign(names.begin(), names.end());
    }
  return {labels.places(), labels.name(), ColumnKind::text_list, std::move(lists), std::move(missing)};
}

void LabelNames::add(const Column& labels) {
  file_ = labels.file();
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (labels.is_missing(row)) continue;
    if (kind_ == ColumnKind::integer) {
      numbers_.insert(labels.integer(row));
      continue;
    }
    for (std::string& name : label_names_of(labels, row)) {
      all_are_lists_ = all_are_lists_ && is_literal_list(name);
      names_.insert(std::move(name));
    }
  }
}

std::vector<std::string> LabelNames::sorted() const {
  std::vector<std::string> names;
  for (const std::int64_t number : numbers_) names.push_back(std::to_string(number));
  std::set<std::string> items;
  if (all_are_lists_)
    for (const std::string& cell : names_) items.merge(listed(cell, file_));
  const std::set<std::string>& texts = all_are_lists_ ? items : names_;
  names.insert(names.end(), texts.begin(), texts.end());
  return names;
}

}  // namespace hearth::tasks
