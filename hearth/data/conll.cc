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
#include "hearth/io/file.h"

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

class ConllReader {
 public:
  ConllReader(std::string_view text, std::string file, Tags tags)
      : lines_(text, file), file_(std::move(file)), needs_tags_(tags == Tags::required) {}

  Table read() {
    for (std::string_view line; lines_.next(line);) {
      if (trimmed(line).empty() || line.starts_with(kDocumentStart)) {
        end_sentence();
      } else {
        add(columns_of(line));
      }
    }
    end_sentence();
    check(!sentences_.empty(), "{} holds no sentences; write one word and its tag per line", file_);
    const std::vector<bool> missing(sentences_.size(), false);
    std::vector<Column> table{{file_, "tokens", ColumnKind::text_list, std::move(sentences_), missing}};
    if (columns_ > 1) table.emplace_back(file_, "ner_tags", ColumnKind::text_list, std::move(tags_), missing);
    return {file_, std::move(table)};
  }

 private:
  void add(const std::vector<std::string_view>& columns) {
    check(columns.size() > 1 || !needs_tags_,
          "{}: line {} has one column only, \"{}\", but a word and its tag are needed, separated by a space or a tab",
          file_, lines_.number(), columns.front());
    if (columns_ == 0) {
      columns_ = columns.size();
      first_line_ = lines_.number();
    }
    check(columns.size() == columns_,
          "{}: line {} has {} columns, but line {} has {}; the last column is the tag, so no column may be left out",
          file_, lines_.number(), columns.size(), first_line_, columns_);
    sentence_.emplace_back(columns.front());
    sentence_tags_.emplace_back(columns.back());
  }

  void end_sentence() {
    if (sentence_.empty()) return;
    sentences_.push_back(std::exchange(sentence_, {}));
    tags_.push_back(std::exchange(sentence_tags_, {}));
  }

  TextLines lines_;
  std::string file_;
  bool needs_tags_;
  std::size_t columns_ = 0;
  std::int64_t first_line_ = 0;
  std::vector<std::string> sentence_, sentence_tags_;
  std::vector<std::vector<std::string>> sentences_, tags_;
};

}  // namespace

Table read_conll(const std::filesystem::path& path, Tags tags) {
  const io::MappedFile contents(path);
  return ConllReader(contents.text(), path.string(), tags).read();
}

Table read_token_table(const std::filesystem::path& path, Tags tags) {
  if (std::ranges::find(kEndings, path.extension().string()) != kEndings.end()) return read_conll(path, tags);
  check(record_format_of(path).has_value(), "{} is not a file of tagged words: its name must end in {}", path.string(),
        token_table_endings());
  return read_table(path);
}

std::string token_table_endings() { return fmt::format("{}, {}", fmt::join(kEndings, ", "), record_endings()); }

}  // namespace hearth::data
