#include "hearth/data/conll.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/data/record_format.h"
#include "hearth/data/text_lines.h"
#include "hearth/io/json.h"

namespace hearth::data {
namespace {

constexpr std::array<std::string_view, 5> kEndings{".conll", ".bio", ".iob", ".iob2", ".txt"};
constexpr std::string_view kDocumentStart = "-DOCSTART-", kSpaces = " \t";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpaces);
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

std::vector<std::string_view> columns_of(std::string_view line) {
  const char separator = line.find('\t') != line.npos ? '\t' : ' ';
  std::vector<std::string_view> columns;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(separator, begin), line.size());
    const std::string_view column = trimmed(line.substr(begin, end - begin));
    if (!column.empty()) columns.push_back(column);
    begin = end + 1;
  }
  return columns;
}

class ConllRecords final : public RecordSource {
 public:
  ConllRecords(const std::filesystem::path& file, Tags tags)
      : lines_(io::TextBuffer(file)), needs_tags_(tags == Tags::required) {
    has_sentence_ = read_sentence();
    check(has_sentence_, "{} holds no sentences; write one word and its tag per line", lines_.name());
    fields_.push_back({"tokens", ColumnKind::text_list, "words"});
    if (columns_ > 1) fields_.push_back({"ner_tags", ColumnKind::text_list, "tags"});
  }

  bool next(io::Json& record) override {
    if (!has_sentence_) return false;
    record = io::Json::object();
    record["tokens"] = std::move(words_);
    if (columns_ > 1) record["ner_tags"] = std::move(tags_);
    ++number_;
    has_sentence_ = read_sentence();
    return true;
  }
  const std::string& file() const override { return lines_.name(); }
  std::int64_t number() const override { return number_; }
  const std::vector<RecordField>& fields() const override { return fields_; }

 private:
  // The next sentence, into words_ and tags_; false at the end of the file.
  bool read_sentence() {
    words_.clear();
    tags_.clear();
    for (std::string_view line; lines_.next(line);) {
      const bool ends = trimmed(line).empty() || line.starts_with(kDocumentStart);
      if (!ends) add(columns_of(line));
      if (ends && !words_.empty()) return true;
    }
    return !words_.empty();
  }

  void add(const std::vector<std::string_view>& columns) {
    check(columns.size() > 1 || !needs_tags_,
          "{}: line {} has one column only, \"{}\", but a word and its tag are needed, separated by a space or a tab",
          lines_.name(), lines_.number(), columns.front());
    if (columns_ == 0) {
      columns_ = columns.size();
      first_line_ = lines_.number();
    }
    check(columns.size() == columns_,
          "{}: line {} has {} columns, but line {} has {}; the last column is the tag, so no column may be left out",
          lines_.name(), lines_.number(), columns.size(), first_line_, columns_);
    words_.emplace_back(columns.front());
    tags_.emplace_back(columns.back());
  }

  TextLines lines_;
  bool needs_tags_;
  std::size_t columns_ = 0;
  std::int64_t first_line_ = 0, number_ = 0;
  std::vector<std::string> words_, tags_;  // of the next sentence
  bool has_sentence_ = false;
  std::vector<RecordField> fields_;
};

bool is_conll(const std::filesystem::path& file) {
  return std::ranges::find(kEndings, io::uncompressed_name(file).extension().string()) != kEndings.end();
}

}  // namespace

RecordSourcePtr open_conll(const Files& files, Tags tags) {
  return records_in_turn(
      files, [tags](const std::filesystem::path& file) { return std::make_unique<ConllRecords>(file, tags); });
}

TableReader token_table_reader(const Files& files, Tags tags) {
  for (const std::filesystem::path& file : files) {
    check(is_conll(file) || has_fields(file), "{} is not a file of tagged words: its name must end in {}",
          file.string(), token_table_endings());
    check(is_conll(file) == is_conll(files.front()),
          "{} and {} have different formats; files that are read as one need the same", files.front().string(),
          file.string());
  }
  if (!is_conll(files.front())) return TableReader(files);
  return {name_of(files), [files, tags] { return open_conll(files, tags); }};
}

std::string token_table_endings() { return fmt::format("{}, {}", fmt::join(kEndings, ", "), record_endings()); }

}  // namespace hearth::data
