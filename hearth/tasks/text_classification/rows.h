#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hearth/data/column.h"
#include "hearth/tasks/common/text_features.h"

namespace hearth::tasks {

// Some texts of a file, and their labels as the file has them.
struct TextRows {
  std::vector<std::string> first, second;     // second is empty where a row has one text
  std::optional<data::Column> labels;         // none: the file has no labels
  std::vector<std::string> class_names = {};  // of labels that are whole numbers with names

  std::int64_t size() const { return static_cast<std::int64_t>(first.size()); }
  TextSpans texts() const { return {first, second}; }
  void keep_first(std::int64_t count);
};

std::int64_t blank_texts(const TextRows& rows);  // records that have no text

}  // namespace hearth::tasks
