#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace hearth {

// Rows of a table.
class RowSet {
 public:
  RowSet() = default;  // all, however many there are
  static RowSet none(std::int64_t rows) { return RowSet(std::vector<std::uint8_t>(static_cast<std::size_t>(rows))); }
  explicit RowSet(std::vector<std::uint8_t> flags) : flags_(std::move(flags)) {}  // one a row, 1 where it belongs

  bool is_all() const { return flags_.empty(); }
  std::vector<std::uint8_t> flags(std::int64_t rows) const;
  std::vector<std::int32_t> list() const;  // ascending; not for all

  void add_all() { flags_.clear(); }
  void add(std::span<const std::int32_t> rows);
  void add(const RowSet& other);

 private:
  std::vector<std::uint8_t> flags_;
};

}  // namespace hearth
