#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hearth/data/array.h"
#include "hearth/data/column.h"
#include "hearth/models/config.h"
#include "hearth/tasks/common/label_map.h"
#include "hearth/tasks/text_classification/rows.h"
#include "hearth/tasks/text_classification/text_source.h"

namespace hearth::tasks {

// What a model learns: a number, one label or several labels per text.
struct TextProblem {
  models::ProblemType type = models::ProblemType::single_label_classification;
  LabelMap labels = {};  // of regression: empty
  bool ranks = false;    // regression of scores between 0 and 1 by binary cross entropy: a cross-encoder

  bool is_regression() const { return type == models::ProblemType::regression; }
  bool has_several_labels() const { return type == models::ProblemType::multi_label_classification; }
};

// The kind of problem that labels of a kind stand for: numbers are regression, lists several labels.
models::ProblemType problem_of(data::ColumnKind labels);

// An Error where two files have different kinds of labels: one label per text, several, or numbers.
void check_same_kind(TextSource& train, TextSource& other);

// The labels of a file as numbers.
struct TextLabels {
  data::Array<std::int64_t> classes;  // (rows): ids; of single labels
  data::Array<float> targets;         // (rows): numbers of regression; (rows, labels): 0 or 1 for several labels
  data::Array<double> scores = {};    // (rows): the targets of a cross-encoder, as exact as the file has them

  bool empty() const { return classes.empty() && targets.empty(); }
  std::vector<std::uint8_t> flags() const;  // the targets of several labels
};

// A label that the problem does not have, or a missing one, is an Error that names the record.
TextLabels encoded_labels(const TextRows& rows, const TextProblem& problem);

}  // namespace hearth::tasks
