#pragma once

#include <span>
#include <utility>
#include <vector>

#include "hearth/optim/moments.h"

namespace hearth::optim {

// The rows of embeddings that an elementwise optimizer has to update. A row that never had a gradient has the moments
// it began with, and without weight decay an update leaves it as it is: such a row is neither read nor written. (With
// an epsilon of 0 PyTorch's update would make it NaN.)
class UsedRows {
 public:
  // `initial_moment` is what the moments began with.
  UsedRows(const ParameterStore& parameters, double initial_moment);

  // Before an update: adds the rows that have a gradient now. The first time, and after forget(), finds the rows whose
  // moments differ from the initial ones as well.
  void add_gradients(std::span<const Range> ranges, const Optimizer::State& moments);
  // The moments may have been changed from outside, such as by loading a checkpoint.
  void forget() { known_ = false; }

  // One flag per row, 1: used. Null if all rows of the parameter count as used.
  const std::uint8_t* flags_of(const Parameter& parameter) const;

 private:
  struct Table {
    const Parameter* parameter;
    std::vector<std::uint8_t> used;  // one flag per row; empty: all rows
  };

  void find_in_moments(Table& table, std::span<const Range> ranges, const Optimizer::State& moments) const;

  float initial_moment_;
  std::vector<Table> tables_;
  bool known_ = false;
};

}  // namespace hearth::optim
