#include "hearth/tasks/text_classification/rows.h"

namespace hearth::tasks {
void TextRows::keep_first(std::int64_t count) {
  if (count >= size()) return;
  const auto rows = static_cast<std::size_t>(count);
  first.resize(rows);
  if (!second.empty()) second.resize(rows);
  if (labels) labels->keep_first(rows);
}

std::int64_t blank_texts(const TextRows& rows) {
  std::int64_t blank = 0;
  for (std::size_t i = 0; i < rows.first.size(); ++i)
    blank += is_blank(rows.first[i]) && (rows.second.empty() || is_blank(rows.second[i]));
  return blank;
}

}  // namespace hearth::tasks
