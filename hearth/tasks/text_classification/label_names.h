#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "hearth/data/column.h"

namespace hearth::tasks {

// The names of the labels of a row.
std::vector<std::string> label_names_of(const data::Column& labels, std::size_t row);

// The lists that the cells of a CSV file hold, such as ['a', 'b'], as lists.
data::Column with_parsed_lists(const data::Column& labels);

// Collects the distinct labels of a column that is read part by part.
class LabelNames {
 public:
  explicit LabelNames(data::ColumnKind kind) : kind_(kind), all_are_lists_(kind == data::ColumnKind::text) {}

  void add(const data::Column& labels);

  // Whether all cells hold lists, such as ['a', 'b'].
  bool are_lists_in_cells() const { return all_are_lists_; }
  data::ColumnKind kind() const { return all_are_lists_ ? data::ColumnKind::text_list : kind_; }
  // By their own type: whole numbers by value, texts by letters.
  std::vector<std::string> sorted() const;

 private:
  data::ColumnKind kind_;
  bool all_are_lists_;
  std::string file_;
  std::set<std::string> names_;
  std::set<std::int64_t> numbers_;
};

}  // namespace hearth::tasks
