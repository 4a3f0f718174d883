#include "hearth/tasks/token_classification/token_table.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hearth/base/check.h"

namespace hearth::tasks {
namespace {

using data::Column, data::ColumnKind, data::Table, data::Tags;

constexpr std::int64_t kRowsPerPart = 1 << 13;

std::size_t index_of(const Table& table, const std::string& name) {
  return static_cast<std::size_t>(&table.at(name) - table.columns().data());
}

bool can_be_tags(const Column& column) {
  return column.kind() == ColumnKind::text_list || column.kind() == ColumnKind::integer_list;
}

}  // namespace

TokenTable::TokenTable(Table table, const std::string& words, const std::optional<std::string>& tags,
                       std::vector<std::string> class_names)
    : table_(std::move(table)), words_(index_of(table_, words)), class_names_(std::move(class_names)) {
  if (!tags) return;
  tags_ = index_of(table_, *tags);
  for (std::int64_t row = 0; row < rows(); ++row) check_tags(row);
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

void TokenTable::check_tags(std::int64_t row) const {
  const std::size_t number = has_numbers() ? numbers(row).size() : tags(row).size();
  check(number == words(row).size(), "{} has {} words, but {} tags; give each word one tag", text_of(place(row)),
        words(row).size(), number);
  if (has_numbers()) {
    const auto negative = std::ranges::find_if(numbers(row), [](std::int64_t tag) { return tag < 0; });
    check(negative == numbers(row).end(), "{} has the tag {}; tags that are numbers count from 0", text_of(place(row)),
          negative == numbers(row).end() ? 0 : *negative);
  } else {
    check(std::ranges::find(tags(row), "") == tags(row).end(),
          "{} has an empty tag; write O for words outside of entities", text_of(place(row)));
  }
}

TokenSource::TokenSource(const data::Files& files, const TokenColumns& columns, Tags tags)
    : reader_(data::token_table_reader(files, tags)) {
  const Table outline = reader_.outline();
  words_ = find_words(outline, columns);
  tags_ = find_tags(outline, columns, tags);
  restart();
}

std::string TokenSource::find_words(const Table& outline, const TokenColumns& columns) const {
  if (columns.words) outline.at(*columns.words);
  const Column* named = outline.find(columns.words.value_or("tokens"));
  const Column& found = named != nullptr ? *named : outline.columns().front();
  check(
      found.kind() == ColumnKind::text_list,
      "{}: the column \"{}\" holds {}, but lists of words are needed; its columns are {}; name the one with the words "
      "with --text_column_name",
      file(), found.name(), data::plural_of(found.kind()), fmt::join(outline.names(), ", "));
  return found.name();
}

std::optional<std::string> TokenSource::find_tags(const Table& outline, const TokenColumns& columns, Tags tags) const {
  if (columns.tags && tags == Tags::required) outline.at(*columns.tags);
  const std::string name = columns.tags.value_or(columns.default_tags);
  if (outline.find(name) != nullptr) return name;
  constexpr std::size_t kSecond = 1;
  if (!columns.tags && kSecond < outline.columns().size()) {
    const Column& second = outline.columns()[kSecond];
    if (second.name() != words_ && can_be_tags(second)) return second.name();
  }
  check(tags == Tags::optional,
        "{} has no column of tags: its columns are {}; name the one with the tags with --label_column_name", file(),
        fmt::join(outline.names(), ", "));
  return std::nullopt;
}

std::int64_t TokenSource::size() const { return std::min(reader_.rows(), most_.value_or(reader_.rows())); }

void TokenSource::restart() {
  std::vector<std::string> columns{words_};
  if (tags_) columns.push_back(*tags_);
  reader_.restart(columns);
  read_ = 0;
}

std::optional<TokenTable> TokenSource::next() {
  const std::int64_t left = most_ ? *most_ - read_ : kRowsPerPart;
  std::optional<Table> part;
  if (left > 0) part = reader_.next(static_cast<std::size_t>(std::min(kRowsPerPart, left)));
  if (!part) {
    check(has_words_, "{}: the column \"{}\" has no words: all {} records are empty; give records with words", file(),
          words_, read_);
    return std::nullopt;
  }
  TokenTable table(std::move(*part), words_, tags_, tags_ ? reader_.class_names(*tags_) : std::vector<std::string>());
  for (std::int64_t row = 0; row < table.rows(); ++row) has_words_ = has_words_ || !table.words(row).empty();
  read_ += table.rows();
  return table;
}

}  // namespace hearth::tasks
