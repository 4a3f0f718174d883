#pragma once

#include "hearth/base/api.h"
#include "hearth/base/error.h"

namespace hearth {

// Training stopped because a number is NaN or infinite. The program exits with kNotFiniteStatus.
class HEARTH_API NotFiniteError : public Error {
 public:
  using Error::Error;
};

}  // namespace hearth
