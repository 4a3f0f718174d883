#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hearth/data/conll.h"
#include "hearth/data/table.h"

namespace hearth::tasks {

// Which columns hold words and tags. As run_ner.py: the given names, or else `tokens` and `default_tags`, or else the
// first and the second column.
struct TokenColumns {
  std::optional<std::string> words = {}, tags = {};
  std::string default_tags = "ner_tags";
};

// A file of sentences, one per row: words, and a tag for each word.
class TokenTable {
 public:
  // With data::Tags::optional the file may have no column of tags. An Error names the record whose numbers of words and
  // tags differ.
  TokenTable(const std::filesystem::path& path, const TokenColumns& columns, data::Tags tags);

  const std::string& file() const { return table_.file(); }
  std::int64_t rows() const { return static_cast<std::int64_t>(table_.rows()); }
  const std::vector<std::string>& words(std::int64_t row) const;

  bool has_tags() const { return tags_.has_value(); }
  bool has_numbers() const;                                      // the tags are whole numbers: ids of labels
  const std::vector<std::string>& tags(std::int64_t row) const;  // if they are texts
  const std::vector<std::int64_t>& numbers(std::int64_t row) const;
  void keep_first(std::optional<std::int64_t> rows);

 private:
  std::size_t find_words(const TokenColumns& columns) const;
  std::optional<std::size_t> find_tags(const TokenColumns& columns, data::Tags tags) const;
  void check_tags() const;
  void check_tags(std::int64_t row) const;
  const data::Column& column(std::size_t index) const { return table_.columns()[index]; }

  data::Table table_;
  std::size_t words_;
  std::optional<std::size_t> tags_;
};

}  // namespace hearth::tasks
