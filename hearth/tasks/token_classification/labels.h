#pragma once

#include <cstdint>
#include <vector>

#include "hearth/models/config.h"
#include "hearth/tasks/common/label_map.h"
#include "hearth/tasks/token_classification/token_table.h"

namespace hearth::tasks {

// The labels to learn. Texts: the distinct tags of the file, sorted, or in the model's order if it has the same ones.
// Numbers: the model's labels if it has names for all of them, otherwise LABEL_0, LABEL_1, ...
LabelMap labels_to_learn(const TokenTable& train, const models::Config& config);

// For each label the one of the following tokens of a word: I-X for B-X, if there is I-X, otherwise the label itself.
std::vector<std::int64_t> labels_inside(const LabelMap& labels);

// Gives the ids of the labels of a file's words.
class LabelReader {
 public:
  // A file whose tags are numbers does not fit labels that were learned from texts in the same run, an Error.
  LabelReader(const TokenTable& table, const LabelMap& labels, bool labels_are_texts);
  std::vector<std::int64_t> ids(std::int64_t row) const;

 private:
  const TokenTable& table_;
  const LabelMap& labels_;
};

}  // namespace hearth::tasks
