#pragma once

#include <functional>
#include <string>

#include "hearth/base/api.h"

namespace hearth {

// The main function of a program: calls `body` and returns 0. An exception becomes one line of standard error,
// "NAME: error: SENTENCE", with the rank in front of the sentence if there are several processes, and the exit status:
// 2 for a wrong command line, 3 for training that stopped at a NaN, otherwise 1.
HEARTH_API int run_program(const std::string& name, const std::function<void()>& body);

}  // namespace hearth
