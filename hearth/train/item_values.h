#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/parallel/team.h"

namespace hearth {

// A row of numbers per item of a dataset, rows of any length: what an evaluation keeps of a model's outputs.
class HEARTH_API ItemValues {
 public:
  explicit ItemValues(std::int64_t items) : rows_(static_cast<std::size_t>(items)) {}

  std::int64_t size() const { return static_cast<std::int64_t>(rows_.size()); }
  void set(std::int64_t item, std::vector<float> values) { rows_[static_cast<std::size_t>(item)] = std::move(values); }
  std::span<const float> operator[](std::int64_t item) const { return rows_[static_cast<std::size_t>(item)]; }
  // Collects the rows of all ranks on rank 0.
  void gather(const parallel::Team& team);

 private:
  std::string packed() const;
  void unpack(std::string_view bytes);

  std::vector<std::vector<float>> rows_;
};

}  // namespace hearth
