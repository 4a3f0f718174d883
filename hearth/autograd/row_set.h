#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hearth/base/api.h"

namespace hearth {

// A set of rows of an embedding.
class HEARTH_API RowSet {
 public:
  RowSet() = default;  // all rows, however many there are
  static RowSet none(std::int64_t rows) { return RowSet(std::vector<std::uint8_t>(static_cast<std::size_t>(rows))); }
  explicit RowSet(std::vector<std::uint8_t> flags) : flags_(std::move(flags)) {}  // one flag per row, 1: in the set

  bool is_all() const { return flags_.empty(); }
  std::vector<std::uint8_t> flags(std::int64_t rows) const;
  std::vector<std::int32_t> list() const;  // ascending; not to be called if is_all()

  void add_all() { flags_.clear(); }
  void add(std::span<const std::int32_t> rows);
  void add(const RowSet& other);

 private:
  std::vector<std::uint8_t> flags_;
};

}  // namespace hearth
