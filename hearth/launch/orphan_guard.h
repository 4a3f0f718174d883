#pragma once

#include <sys/types.h>

#include "hearth/launch/pipe.h"

namespace hearth::launch {

// A helper process that kills the registered process groups if the launcher itself is killed. The kernel would end only
// the ranks, not the processes that they have started.
class OrphanGuard {
 public:
  OrphanGuard();
  ~OrphanGuard();
  OrphanGuard(const OrphanGuard&) = delete;
  OrphanGuard& operator=(const OrphanGuard&) = delete;

  void watch_this_process();  // registers the calling process, which leads a process group

 private:
  Pipe told_;
  pid_t pid_;
};

// For a rank that another program has started: once the calling process (or the program it becomes) has ended, the rest
// of its process group is killed; and it ends when its parent does. Not every mpirun does that when it is killed.
void guard_this_process();

}  // namespace hearth::launch
