#include "hearth/tasks/text_classification/labels.h"

#include <cmath>

#include "hearth/base/check.h"
#include "hearth/tasks/text_classification/label_names.h"

namespace hearth::tasks {
namespace {

using data::Column, data::ColumnKind, data::RecordPlace;
using models::ProblemType;

void check_present(const TextRows& rows, std::size_t row) {
  check(
      !rows.labels->is_missing(row),
      "{} has no label (an empty cell, and words such as NA, None and null, are missing values); fill it in, or leave "
      "the record out",
      text_of(rows.labels->place(row)));
}

float number_of(const TextRows& rows, std::size_t row) {
  const double number = rows.labels->number(row);
  check(std::isfinite(number), "{} has the label {}, which is not a number to learn; correct the record",
        text_of(rows.labels->place(row)), number);
  return static_cast<float>(number);
}

// Whole numbers that the file has names for, by their names.
std::vector<std::string> names_of(const TextRows& rows, std::size_t row) {
  const Column& labels = *rows.labels;
  const std::vector<std::string>& known = rows.class_names;
  const auto name = [&](std::int64_t id) {
    check(id >= 0 && id < std::ssize(known), "{} has the label {}, but the file names {} labels, counted from 0",
          text_of(labels.place(row)), id, known.size());
    return known[static_cast<std::size_t>(id)];
  };
  if (!known.empty() && labels.kind() == ColumnKind::integer) return {name(labels.integer(row))};
  if (known.empty() || labels.kind() != ColumnKind::integer_list) return label_names_of(labels, row);
  std::vector<std::string> names;
  for (const std::int64_t id : labels.integers(row)) names.push_back(name(id));
  return names;
}

}  // namespace

ProblemType problem_of(ColumnKind labels) {
  if (labels == ColumnKind::number) return ProblemType::regression;
  const bool are_lists = labels == ColumnKind::text_list || labels == ColumnKind::integer_list;
  return are_lists ? ProblemType::multi_label_classification : ProblemType::single_label_classification;
}

void check_same_kind(TextSource& train, TextSource& other) {
  const ColumnKind a = train.label_kind(), b = other.label_kind();
  check(
      problem_of(a) == problem_of(b),
      "the labels of {} are {}, but those of {} are {}; write them in the same way (a missing label turns a column of "
      "whole numbers into numbers)",
      train.file(), data::plural_of(a), other.file(), data::plural_of(b));
}

std::vector<std::uint8_t> TextLabels::flags() const {
  std::vector<std::uint8_t> flags;
  for (const float target : targets) flags.push_back(target > 0);
  return flags;
}

TextLabels encoded_labels(const TextRows& rows, const TextProblem& problem) {
  TextLabels encoded;
  std::vector<float> flags(static_cast<std::size_t>(problem.labels.size()));
  for (std::size_t row = 0; row < rows.first.size(); ++row) {
    check_present(rows, row);
    if (problem.is_regression()) {
      encoded.targets.push_back(number_of(rows, row));
      check(
          !problem.ranks || (encoded.targets.back() >= 0 && encoded.targets.back() <= 1),
          "{} has the score {}, but --cross_encoder learns scores between 0 and 1; divide them by their highest value",
          text_of(rows.labels->place(row)), encoded.targets.back());
      if (problem.ranks) encoded.scores.push_back(rows.labels->number(row));
      continue;
    }
    const auto id = [&](const std::string& name) {
      const RecordPlace place = rows.labels->place(row);
      return problem.labels.id(name, place.file, place.number);
    };
    const std::vector<std::string> names = names_of(rows, row);
    if (!problem.has_several_labels()) {
      encoded.classes.push_back(id(names.front()));
      continue;
    }
    std::fill(flags.begin(), flags.end(), 0.0F);
    for (const std::string& name : names) flags[static_cast<std::size_t>(id(name))] = 1;
    encoded.targets.append(flags);
  }
  return encoded;
}

}  // namespace hearth::tasks
