#include "hearth/tasks/common/samples.h"

#include <algorithm>

namespace hearth::tasks {

std::string text_of_row(const TokenRows& rows, std::int64_t row, const tokenizer::Tokenizer& tokenizer) {
  const auto ids = rows.ids_of(row);
  const auto types = rows.type_ids_of(row);
  const auto second = std::ranges::find(types, 1) - types.begin();
  const auto text = [&](auto begin, auto end) {
    return tokenizer.decode(std::vector<std::int32_t>(ids.begin() + begin, ids.begin() + end), true);
  };
  const std::string first = text(0, second);
  return second == std::ssize(ids) ? first : first + "\n" + text(second, std::ssize(ids));
}

}  // namespace hearth::tasks
