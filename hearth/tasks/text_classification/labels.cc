#include "hearth/tasks/text_classification/labels.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "hearth/base/check.h"
#include "hearth/data/python_literal.h"
#include "hearth/io/json.h"

namespace hearth::tasks {
namespace {

using data::Column, data::ColumnKind;
using models::ProblemType;

bool is_list(ColumnKind kind) { return kind == ColumnKind::text_list || kind == ColumnKind::integer_list; }

// The names of the labels of a row.
std::vector<std::string> names_of(const Column& labels, std::size_t row) {
  if (labels.kind() == ColumnKind::text_list) return labels.texts(row);
  if (labels.kind() != ColumnKind::integer_list) return {labels.written(row)};
  std::vector<std::string> names;
  for (const std::int64_t label : labels.integers(row)) names.push_back(std::to_string(label));
  return names;
}

void check_present(const TextRows& rows, std::size_t row) {
  check(!rows.labels->is_missing(row),
        "{}: record {} has no label (an empty cell, and words such as NA, None and null, are missing values); fill it "
        "in, or leave the record out",
        rows.file, row + 1);
}

float number_of(const TextRows& rows, std::size_t row) {
  const double number = rows.labels->number(row);
  check(std::isfinite(number), "{}: record {} has the label {}, which is not a number to learn; correct the record",
        rows.file, row + 1, number);
  return static_cast<float>(number);
}

bool is_literal_list(const std::string& cell) { return cell.starts_with('[') && cell.ends_with(']'); }

std::vector<std::string> listed(const std::string& cell, const std::string& place) {
  std::vector<std::string> names;
  for (const io::Json& item : data::parse_python_literal(cell, place))
    names.push_back(item.is_string() ? item.get<std::string>() : item.dump());
  return names;
}

}  // namespace

ProblemType problem_of(const Column& labels) {
  if (labels.kind() == ColumnKind::number) return ProblemType::regression;
  return is_list(labels.kind()) ? ProblemType::multi_label_classification : ProblemType::single_label_classification;
}

Column with_parsed_lists(Column labels, const std::string& file) {
  if (labels.kind() != ColumnKind::text) return labels;
  for (std::size_t row = 0; row < labels.size(); ++row)
    if (!labels.is_missing(row) && !is_literal_list(labels.text(row))) return labels;
  std::vector<std::vector<std::string>> lists(labels.size());
  std::vector<bool> missing(labels.size());
  for (std::size_t row = 0; row < labels.size(); ++row)
    if (!(missing[row] = labels.is_missing(row)))
      lists[row] = listed(labels.text(row), fmt::format("{}: record {}", file, row + 1));
  return Column(file, labels.name(), ColumnKind::text_list, std::move(lists), std::move(missing));
}

std::vector<std::string> distinct_labels(const Column& labels, bool skips_minus_one) {
  if (labels.kind() == ColumnKind::integer) {
    std::set<std::int64_t> numbers;
    for (std::size_t row = 0; row < labels.size(); ++row)
      if (!labels.is_missing(row)) numbers.insert(labels.integer(row));
    if (skips_minus_one) numbers.erase(-1);
    std::vector<std::string> names;
    for (const std::int64_t number : numbers) names.push_back(std::to_string(number));
    return names;
  }
  std::set<std::string> names;
  for (std::size_t row = 0; row < labels.size(); ++row)
    if (!labels.is_missing(row))
      for (std::string& name : names_of(labels, row)) names.insert(std::move(name));
  return {names.begin(), names.end()};
}

void check_same_kind(const TextRows& train, const TextRows& other) {
  const ColumnKind a = train.labels->kind(), b = other.labels->kind();
  check(
      problem_of(*train.labels) == problem_of(*other.labels),
      "the labels of {} are {}, but those of {} are {}; write them in the same way (a missing label turns a column of "
      "whole numbers into numbers)",
      train.file, data::plural_of(a), other.file, data::plural_of(b));
}

std::vector<std::uint8_t> TextLabels::flags() const {
  std::vector<std::uint8_t> flags;
  for (const float target : targets) flags.push_back(target > 0);
  return flags;
}

TextLabels encoded_labels(const TextRows& rows, const TextProblem& problem) {
  TextLabels encoded;
  const auto labels = static_cast<std::size_t>(problem.labels.size());
  for (std::size_t row = 0; row < rows.first.size(); ++row) {
    check_present(rows, row);
    const auto record = static_cast<std::int64_t>(row) + 1;
    if (problem.is_regression()) {
      encoded.targets.push_back(number_of(rows, row));
      check(!problem.ranks || (encoded.targets.back() >= 0 && encoded.targets.back() <= 1),
            "{}: record {} has the score {}, but --cross_encoder learns scores between 0 and 1; divide them by their "
            "highest value",
            rows.file, record, encoded.targets.back());
      if (problem.ranks) encoded.scores.push_back(rows.labels->number(row));
      continue;
    }
    const std::vector<std::string> names = names_of(*rows.labels, row);
    if (!problem.has_several_labels()) {
      encoded.classes.push_back(problem.labels.id(names.front(), rows.file, record));
      continue;
    }
    encoded.targets.resize((row + 1) * labels);
    for (const std::string& name : names)
      encoded.targets[row * labels + static_cast<std::size_t>(problem.labels.id(name, rows.file, record))] = 1;
  }
  return encoded;
}

}  // namespace hearth::tasks
