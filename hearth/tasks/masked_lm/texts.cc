#include "hearth/tasks/masked_lm/texts.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "hearth/base/check.h"
#include "hearth/data/record_format.h"
#include "hearth/data/table.h"
#include "hearth/tasks/common/text_features.h"

namespace hearth::tasks {
std::string text_endings() { return ".txt, " + data::record_endings(); }

Texts read_texts(const std::vector<std::string>& files) {
  const data::Table table = data::read_table(data::files_of(files));
  const data::Column* named = table.find("text");
  const data::Column& column = named != nullptr ? *named : table.columns().front();
  Texts texts{table.file(), {}};
  for (std::size_t row = 0; row < table.rows(); ++row) texts.rows.push_back(column.text(row));
  check(!std::ranges::all_of(texts.rows, [](const std::string& row) { return is_blank(row); }),
        "{} has no text: give a file of {} with at least one row of words", table.file(), text_endings());
  return texts;
}

SplitTexts split_texts(Texts texts, std::int64_t percentage) {
  // As Python's round: a half goes to the even number.
  const auto first = static_cast<std::int64_t>(
      std::nearbyint(static_cast<double>(percentage) * static_cast<double>(texts.size()) / 100));
  SplitTexts split{{texts.file, {}}, {texts.file, {}}};
  const auto middle = texts.rows.begin() + first;
  split.validation.rows.assign(std::move_iterator(texts.rows.begin()), std::move_iterator(middle));
  split.train.rows.assign(std::move_iterator(middle), std::move_iterator(texts.rows.end()));
  return split;
}

}  // namespace hearth::tasks
