#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "hearth/models/config.h"
#include "hearth/tasks/common/label_map.h"
#include "hearth/tasks/token_classification/token_table.h"

namespace hearth::tasks {

// Collects the labels to learn from the training data.
class TagNames {
 public:
  void add(const TokenTable& part);

  // Whether the tags have names: texts, or numbers for which the file has names.
  bool have_names() const { return !has_numbers_ || !class_names_.empty(); }
  // The distinct tags, sorted, or the names that the file declares, or the model's order if it has the same ones.
  // Numbers without names: the model's labels if it has names for all of them, otherwise LABEL_0, LABEL_1, ...
  LabelMap labels(const models::Config& config) const;

 private:
  bool has_numbers_ = false;
  std::int64_t largest_ = 0;
  std::set<std::string> tags_;
  std::vector<std::string> class_names_;
};

// For each label the one of the following tokens of a word: I-X for B-X, if there is I-X, otherwise the label itself.
std::vector<std::int64_t> labels_inside(const LabelMap& labels);

// Gives the ids of the labels of a file's words.
class LabelReader {
 public:
  // A file whose tags are numbers without names does not fit labels that were learned from texts in the same run, an
  // Error.
  LabelReader(const TokenTable& table, const LabelMap& labels, bool labels_are_texts);
  std::vector<std::int64_t> ids(std::int64_t row) const;

 private:
  const TokenTable& table_;
  const LabelMap& labels_;
};

}  // namespace hearth::tasks
