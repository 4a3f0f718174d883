#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hearth/data/column.h"
#include "hearth/tasks/common/text_features.h"

namespace hearth::tasks {

// The texts of a file, and their labels as the file has them.
struct TextRows {
  std::string file;
  std::vector<std::string> first, second;  // second is empty where a row has one text
  std::optional<data::Column> labels;      // none: the file has no labels

  std::int64_t size() const { return static_cast<std::int64_t>(first.size()); }
  TextSpans texts() const { return {first, second}; }
  void keep_first(std::optional<std::int64_t> count);  // for max_*_samples
  void take(std::span<const std::int64_t> order);      // these rows alone, in this order
};

// A warning with the number of records whose texts are blank; none if there are none.
void warn_of_blank_texts(const TextRows& rows);

}  // namespace hearth::tasks
