#include "hearth/autograd/row_set.h"

namespace hearth {

void RowSet::add(std::span<const std::int32_t> rows) {
  if (is_all()) return;
  for (const std::int32_t row : rows) flags_[static_cast<std::size_t>(row)] = 1;
}

void RowSet::add(const RowSet& other) {
  if (is_all() || other.is_all()) return add_all();
  for (std::size_t row = 0; row < flags_.size(); ++row) flags_[row] |= other.flags_[row];
}

std::vector<std::uint8_t> RowSet::flags(std::int64_t rows) const {
  return is_all() ? std::vector<std::uint8_t>(static_cast<std::size_t>(rows), 1) : flags_;
}

std::vector<std::int32_t> RowSet::list() const {
  std::vector<std::int32_t> rows;
  for (std::size_t row = 0; row < flags_.size(); ++row)
    if (flags_[row] != 0) rows.push_back(static_cast<std::int32_t>(row));
  return rows;
}

}  // namespace hearth
