#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hearth/base/api.h"

namespace hearth::data {

// Where a record stands, for errors: the file, and the record's number in it, counted from 1.
struct RecordPlace {
  std::string file;
  std::int64_t number = 0;
};
HEARTH_API std::string text_of(const RecordPlace& place);  // "FILE: record 7"

// The places of the rows of a table, as runs of consecutive records.
class HEARTH_API RecordPlaces {
 public:
  // `name` is the name of all files together.
  explicit RecordPlaces(std::string name) : name_(std::move(name)) {}

  void add(const std::string& file, std::int64_t number);  // of the next row
  RecordPlace of(std::size_t row) const;
  const std::string& name() const { return name_; }
  std::size_t rows() const { return rows_; }

 private:
  struct Run {
    std::size_t row = 0;
    RecordPlace first;
  };

  std::string name_;
  std::vector<Run> runs_;
  std::size_t rows_ = 0;
};

}  // namespace hearth::data
