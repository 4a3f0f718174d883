#pragma once

#include <utility>

#include "hearth/base/api.h"
#include "hearth/base/error.h"

namespace hearth {

// The command line, or a file of options, cannot be used as it is. The program exits with status 2 instead of 1, as
// programs with argparse do.
class HEARTH_API UsageError : public Error {
 public:
  using Error::Error;
};

// Runs `body`; every Error in it is a UsageError.
template <class Body>
auto as_usage(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

}  // namespace hearth
