#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/data/record_places.h"

namespace hearth::data {

// `other`: objects, lists of lists and whatever else has no accessor; such columns count, but cannot be read.
enum class ColumnKind { text, integer, number, boolean, text_list, integer_list, number_list, other };

// "texts", "whole numbers", ...: for errors.
HEARTH_API std::string_view plural_of(ColumnKind kind);

// The values of one column, all of a file's or those of some records. Rows count from 0. An accessor of another kind
// than the column's is an Error that names the file and both kinds.
class HEARTH_API Column {
 public:
  using Values = std::variant<std::monostate, std::vector<std::string>, std::vector<std::int64_t>, std::vector<double>,
                              std::vector<std::vector<std::string>>, std::vector<std::vector<std::int64_t>>,
                              std::vector<std::vector<double>>>;

  // `values` has the type that belongs to `kind` (booleans are integers, `other` is std::monostate) and the size of
  // `missing`.
  Column(std::shared_ptr<const RecordPlaces> places, std::string name, ColumnKind kind, Values values,
         std::vector<bool> missing);

  const std::string& name() const { return name_; }
  const std::shared_ptr<const RecordPlaces>& places() const { return places_; }
  const std::string& file() const { return places_->name(); }
  RecordPlace place(std::size_t row) const { return places_->of(row); }
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

 private:
  template <class T>
  const T& get(std::size_t row, ColumnKind wanted) const;
  void check_present(std::size_t row) const;
  [[noreturn]] void wrong_kind(ColumnKind wanted) const;

  std::shared_ptr<const RecordPlaces> places_;
  std::string name_;
  ColumnKind kind_;
  Values values_;
  std::vector<bool> missing_;
};

}  // namespace hearth::data
