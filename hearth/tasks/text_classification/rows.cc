#include "hearth/tasks/text_classification/rows.h"

#include "hearth/base/log.h"

namespace hearth::tasks {
namespace {

std::vector<std::string> taken(std::vector<std::string>& texts, std::span<const std::int64_t> order) {
  std::vector<std::string> some;
  for (const std::int64_t row : order) some.push_back(std::move(texts[static_cast<std::size_t>(row)]));
  return some;
}

}  // namespace

void TextRows::keep_first(std::optional<std::int64_t> count) {
  if (!count || *count >= size()) return;
  const auto rows = static_cast<std::size_t>(*count);
  first.resize(rows);
  if (!second.empty()) second.resize(rows);
  if (labels) labels->keep_first(rows);
}

void TextRows::take(std::span<const std::int64_t> order) {
  first = taken(first, order);
  if (!second.empty()) second = taken(second, order);
  if (labels) labels->take(order);
}

void warn_of_blank_texts(const TextRows& rows) {
  std::int64_t blank = 0;
  for (std::size_t i = 0; i < rows.first.size(); ++i)
    blank += is_blank(rows.first[i]) && (rows.second.empty() || is_blank(rows.second[i]));
  if (blank > 0)
    log_warning("{}: {} of {} records have no text; they are used as they are", rows.file, blank, rows.size());
}

}  // namespace hearth::tasks
