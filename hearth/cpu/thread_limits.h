#pragma once

#include <string>

#include "hearth/base/error.h"

namespace hearth::cpu {

// Why the system may have refused a thread, and the way out: a part of a sentence that names the limits in force.
std::string thread_limits();

// The error of starting `count` threads when the system refused all but `started` of them.
ResourceError refused_threads(int count, int started);

}  // namespace hearth::cpu
