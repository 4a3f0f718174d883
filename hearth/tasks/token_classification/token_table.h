#pragma once

#include <cstddef>
#include <cstdint>
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

// Sentences of a file, one per row: words, and a tag for each word.
class TokenTable {
 public:
  // Column `words` holds the words and column `tags`, if any, the tags. An Error names the record whose numbers of
  // words and tags differ. `class_names`: of tags that are numbers with names.
  TokenTable(data::Table table, const std::string& words, const std::optional<std::string>& tags,
             std::vector<std::string> class_names);

  const std::string& file() const { return table_.file(); }
  data::RecordPlace place(std::int64_t row) const { return table_.place(static_cast<std::size_t>(row)); }
  std::int64_t rows() const { return static_cast<std::int64_t>(table_.rows()); }
  std::int64_t size() const { return rows(); }
  const std::vector<std::string>& words(std::int64_t row) const;

  bool has_tags() const { return tags_.has_value(); }
  bool has_numbers() const;                                      // the tags are whole numbers: ids of labels
  const std::vector<std::string>& tags(std::int64_t row) const;  // if they are texts
  const std::vector<std::int64_t>& numbers(std::int64_t row) const;
  const std::vector<std::string>& class_names() const { return class_names_; }

 private:
  void check_tags(std::int64_t row) const;
  const data::Column& column(std::size_t index) const { return table_.columns()[index]; }

  data::Table table_;
  std::size_t words_;
  std::optional<std::size_t> tags_;
  std::vector<std::string> class_names_;
};

// The sentences of a set of files, read part by part.
class TokenSource {
 public:
  // With data::Tags::optional the files may have no column of tags.
  TokenSource(const data::Files& files, const TokenColumns& columns, data::Tags tags);

  const std::string& file() const { return reader_.name(); }
  std::int64_t size() const;                                             // rows that are read
  void keep_first(std::optional<std::int64_t> count) { most_ = count; }  // for max_*_samples
  bool has_tags() const { return tags_.has_value(); }

  void restart();
  std::optional<TokenTable> next();  // the next part; nothing at the end. Files without any word are an Error.

 private:
  std::string find_words(const data::Table& outline, const TokenColumns& columns) const;
  std::optional<std::string> find_tags(const data::Table& outline, const TokenColumns& columns, data::Tags tags) const;

  data::TableReader reader_;
  std::string words_;
  std::optional<std::string> tags_;
  std::optional<std::int64_t> most_;
  std::int64_t read_ = 0;
  bool has_words_ = false;
};

}  // namespace hearth::tasks
