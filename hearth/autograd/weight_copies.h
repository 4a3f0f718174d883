#pragma once

#include <cstdint>

#include "hearth/base/api.h"
#include "hearth/tensor/tensor.h"

namespace hearth {

struct Parameter;

// The form in which an op reads a weight: its dtype and, for a matmul that reads packed weights, its layout.
struct WeightForm {
  enum class Layout { plain, packed, packed_transposed };  // packed_transposed: the matmul reads W^T

  DType type = DType::f32;
  Layout layout = Layout::plain;

  friend bool operator==(const WeightForm&, const WeightForm&) = default;
};

// A copy of a parameter's values in another form than they are stored in.
struct HEARTH_API WeightCopy {
  WeightForm form;
  std::uint64_t version = 0;  // the Parameter::version that `value` was built from
  bool was_read = false;      // since the last update
  Tensor value;

  std::int64_t row_unit() const;  // rebuild() takes multiples of this many rows; a power of two
};

// The parameter's values in this form: the stored values where they have it, otherwise a copy. A copy is made at its
// first use, rebuilt when the values have changed, and dropped at the next update if nothing reads it any more. Several
// threads may call it at the same time, as long as none changes the values.
HEARTH_API const Tensor& acquire(Parameter& parameter, WeightForm form = {});

// Rebuilds the part of the copy derived from rows [begin, end) of the parameter. Both bounds are multiples of
// row_unit(); `end` may also be the row count. `read_soon` keeps the result in cache; otherwise large packed copies are
// written with non-temporal stores. The caller sets the version.
HEARTH_API void rebuild(const Parameter& parameter, const WeightCopy& copy, std::int64_t begin, std::int64_t end,
                        bool read_soon);

// Before an optimizer's update: drops the copies that nothing has read since the update before. An evaluation in
// another dtype than training would otherwise leave its copies behind for the rest of the run.
HEARTH_API void drop_unread_copies(Parameter& parameter);
// After an update: the next one will ask which copies were read since.
HEARTH_API void mark_copies_unread(Parameter& parameter);

}  // namespace hearth
