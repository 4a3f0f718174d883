#pragma once

#include "hearth/base/error.h"

namespace hearth {

// Training stopped because a number is NaN or infinite. The program exits with kNotFiniteStatus.
class NotFiniteError : public Error {
 public:
  using Error::Error;
};

}  // namespace hearth
