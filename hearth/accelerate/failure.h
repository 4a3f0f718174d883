#pragma once

#include <exception>
#include <string>

namespace hearth {

// What an exception says to the person at the terminal: one sentence, also for those of the standard library.
std::string sentence_of(const std::exception& error);

// The program's exit status after it (base/exit_status.h).
int status_of(const std::exception& error);

// Whether memory, disk space, threads or descriptors have run out.
bool is_resource_failure(const std::exception& error);

}  // namespace hearth
