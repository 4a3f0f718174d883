#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hearth/data/table_reader.h"
#include "hearth/tasks/text_classification/columns.h"
#include "hearth/tasks/text_classification/rows.h"

namespace hearth::tasks {

// The texts of a set of files, read part by part.
class TextSource {
 public:
  // Columns that are not there are an Error that lists the columns.
  TextSource(std::shared_ptr<data::TableReader> reader, TextColumns columns, LabelsIn labels);

  const std::string& file() const { return reader_->name(); }
  const TextColumns& columns() const { return columns_; }
  bool has_pairs() const { return !columns_.second.empty(); }
  std::int64_t size() const;                                             // rows that are read
  bool is_cut() const { return size() < reader_->rows(); }               // by keep_first
  void keep_first(std::optional<std::int64_t> count) { most_ = count; }  // for max_*_samples

  void restart();
  std::optional<TextRows> next();  // the next part; nothing at the end

  bool has_labels() const { return has_labels_; }
  // Of all labels, whatever keep_first says. Cells of a CSV file that all hold lists, such as ['a', 'b'], are lists.
  data::ColumnKind label_kind();
  // The distinct labels that occur, sorted by their own type: whole numbers by value, texts by letters. Missing ones
  // are left out, and so is -1 where `skips_minus_one`.
  std::vector<std::string> occurring_labels(bool skips_minus_one = false);
  bool declares_labels() const { return !class_names().empty(); }
  // The labels that the file declares, in its order, or else those that occur.
  std::vector<std::string> label_names();

 private:
  struct Labels {
    data::ColumnKind kind;
    bool are_lists_in_cells = false;
    std::vector<std::string> names;
  };
  const Labels& labels();  // reads the column of labels, once
  data::ColumnKind declared_kind() const;
  const std::vector<std::string>& class_names() const { return reader_->class_names(columns_.label); }
  std::vector<std::string> column_names() const;

  std::shared_ptr<data::TableReader> reader_;
  TextColumns columns_;
  bool has_labels_;
  std::optional<std::int64_t> most_;
  std::int64_t read_ = 0;
  std::optional<Labels> labels_;
};

}  // namespace hearth::tasks
