#include "hearth/tasks/token_classification/token_table.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hearth/base/check.h"

namespace hearth::tasks {
namespace {

using data::Column, data::ColumnKind, data::Table, data::Tags;

std::optional<std::size_t> index_of(const Table& table, const std::string& name) {
  const Column* column = table.find(name);
  if (column == nullptr) return std::nullopt;
  return static_cast<std::size_t>(column - table.columns().data());
}

bool can_be_tags(const Column& column) {
  return column.kind() == ColumnKind::text_list || column.kind() == ColumnKind::integer_list;
}

}  // namespace

TokenTable::TokenTable(const std::filesystem::path& path, const TokenColumns& columns, Tags tags)
    : table_(data::read_token_table(path, tags)), words_(find_words(columns)), tags_(find_tags(columns, tags)) {
  check_tags();
}

std::size_t TokenTable::find_words(const TokenColumns& columns) const {
  if (columns.words) table_.at(*columns.words);
  const std::size_t found = index_of(table_, columns.words.value_or("tokens")).value_or(0);
  check(
      column(found).kind() == ColumnKind::text_list,
      "{}: the column \"{}\" holds {}, but lists of words are needed; its columns are {}; name the one with the words "
      "with --text_column_name",
      file(), column(found).name(), data::plural_of(column(found).kind()), fmt::join(table_.names(), ", "));
  return found;
}

std::optional<std::size_t> TokenTable::find_tags(const TokenColumns& columns, Tags tags) const {
  if (columns.tags && tags == Tags::required) table_.at(*columns.tags);
  if (const auto named = index_of(table_, columns.tags.value_or(columns.default_tags))) return named;
  constexpr std::size_t kSecond = 1;
  if (!columns.tags && kSecond < table_.columns().size() && kSecond != words_ && can_be_tags(column(kSecond)))
    return kSecond;
  check(tags == Tags::optional,
        "{} has no column of tags: its columns are {}; name the one with the tags with --label_column_name", file(),
        fmt::join(table_.names(), ", "));
  return std::nullopt;
}

const std::vector<std::string>& TokenTable::words(std::int64_t row) const {
  return column(words_).texts(static_cast<std::size_t>(row));
}

bool TokenTable::has_numbers() const { return tags_ && column(*tags_).kind() == ColumnKind::integer_list; }

const std::vector<std::string>& TokenTable::tags(std::int64_t row) const {
  return column(*tags_).texts(static_cast<std::size_t>(row));
}

const std::vector<std::int64_t>& TokenTable::numbers(std::int64_t row) const {
  return column(*tags_).integers(static_cast<std::size_t>(row));
}

void TokenTable::keep_first(std::optional<std::int64_t> rows) {
  if (rows && *rows < this->rows()) table_.keep_first(static_cast<std::size_t>(*rows));
}

void TokenTable::check_tags() const {
  const auto has_words = [&](std::int64_t row) { return !words(row).empty(); };
  bool any = false;
  for (std::int64_t row = 0; row < rows(); ++row) {
    if (has_tags()) check_tags(row);
    any = any || has_words(row);
  }
  check(any, "{}: the column \"{}\" has no words: all {} records are empty; give records with words", file(),
        column(words_).name(), rows());
}

void TokenTable::check_tags(std::int64_t row) const {
  const std::size_t number = has_numbers() ? numbers(row).size() : tags(row).size();
  check(number == words(row).size(), "{}: record {} has {} words, but {} tags; give each word one tag", file(), row + 1,
        words(row).size(), number);
  if (has_numbers()) {
    const auto negative = std::ranges::find_if(numbers(row), [](std::int64_t tag) { return tag < 0; });
    check(negative == numbers(row).end(), "{}: record {} has the tag {}; tags that are numbers count from 0", file(),
          row + 1, negative == numbers(row).end() ? 0 : *negative);
  } else {
    check(std::ranges::find(tags(row), "") == tags(row).end(),
          "{}: record {} has an empty tag; write O for words outside of entities", file(), row + 1);
  }
}

}  // namespace hearth::tasks
