#pragma once

#include <string>
#include <vector>

namespace hearth::bench {

// A text table with columns as wide as needed; the first is left-aligned, the others right-aligned.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string to_string() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // all of one length
};

}  // namespace hearth::bench
