#include "hearth/tasks/masked_lm/texts.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

#include "hearth/base/check.h"
#include "hearth/data/record_format.h"
#include "hearth/data/table.h"
#include "hearth/data/text_lines.h"
#include "hearth/io/file.h"
#include "hearth/tasks/common/text_features.h"

namespace hearth::tasks {
namespace {

std::vector<std::string> lines_of(const std::string& file) {
  const std::string text = io::read_file(file);
  data::TextLines lines(text, file);
  std::vector<std::string> rows;
  for (std::string_view line; lines.next(line);) rows.emplace_back(line);
  return rows;
}

std::vector<std::string> column_of(const std::string& file) {
  const data::Table table = data::read_table(file);
  const data::Column* named = table.find("text");
  const data::Column& column = named != nullptr ? *named : table.columns().front();
  std::vector<std::string> rows;
  for (std::size_t row = 0; row < table.rows(); ++row) rows.push_back(column.text(row));
  return rows;
}

}  // namespace

std::string text_endings() { return ".txt, " + data::record_endings(); }

Texts read_texts(const std::string& file) {
  const bool is_text = std::filesystem::path(file).extension() == ".txt";
  Texts texts{file, is_text ? lines_of(file) : column_of(file)};
  check(!std::ranges::all_of(texts.rows, [](const std::string& row) { return is_blank(row); }),
        "{} has no text: give a file of {} with at least one row of words", file, text_endings());
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
