#pragma once

#include <sys/types.h>

#include <fstream>
#include <string>

namespace hearth {

// Whether the process is there, and not ended and merely not yet waited for.
inline bool process_runs(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return file >> number >> name >> state && state != "Z";
}

}  // namespace hearth
