#pragma once

#include <string>

namespace hearth::cpu {

// Why the system may have refused a thread, and the way out: a part of a sentence that names the limits in force.
std::string thread_limits();

// Starts so many threads at once and ends them again; a ResourceError if the system refuses one. OpenMP itself would
// end the program.
void check_threads(int count);

}  // namespace hearth::cpu
