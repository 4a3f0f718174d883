#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hearth/base/api.h"

namespace hearth::data {

// `other`: objects, lists of lists and whatever else has no accessor; such columns count, but cannot be read.
enum class ColumnKind { text, integer, number, boolean, text_list, integer_list, number_list, other };

// "texts", "whole numbers", ...: for errors.
HEARTH_API std::string_view plural_of(ColumnKind kind);

// The values of one column of a file. Rows count from 0; errors call row r "record r + 1". An accessor of another kind
// than the column's is an Error that names the file and both kinds.
class HEARTH_API Column {
 public:
  using Values = std::variant<std::monostate, std::vector<std::string>, std::vector<std::int64_t>, std::vector<double>,
                              std::vector<std::vector<std::string>>, std::vector<std::vector<std::int64_t>>,
                              std::vector<std::vector<double>>>;

  // `values` has the type that belongs to `kind` (booleans are integers, `other` is std::monostate) and the size of
  // `missing`.
  Column(std::string file, std::string name, ColumnKind kind, Values values, std::vector<bool> missing);

  const std::string& name() const { return name_; }
  ColumnKind kind() const { return kind_; }
  std::size_t size() const { return missing_.size(); }
  bool is_missing(std::size_t row) const { return missing_[row]; }
  bool has_missing() const;

  // A missing text is what the file has in its place, such as NA or nothing.
  const std::string& text(std::size_t row) const;
  // Of integers and booleans; a missing one is an Error.
  std::int64_t integer(std::size_t row) const;
  // Of numbers, integers and booleans; a missing one is NaN.
  double number(std::size_t row) const;
  // A missing list is empty.
  const std::vector<std::string>& texts(std::size_t row) const;
  const std::vector<std::int64_t>& integers(std::size_t row) const;
  std::vector<double> numbers(std::size_t row) const;  // of integer lists too
  // A text, integer, number or boolean as Python's str() writes it; a missing one is an Error, except a text.
  std::string written(std::size_t row) const;

  void keep_first(std::size_t rows);
  void take(std::span<const std::int64_t> rows);  // these rows alone, in this order

 private:
  template <class T>
  const T& get(std::size_t row, ColumnKind wanted) const;
  void check_present(std::size_t row) const;
  [[noreturn]] void wrong_kind(ColumnKind wanted) const;

  std::string file_, name_;
  ColumnKind kind_;
  Values values_;
  std::vector<bool> missing_;
};

}  // namespace hearth::data
